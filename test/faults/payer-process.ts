import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { PayerJob } from "./effect-payer.js";

const builtBeside = fileURLToPath(new URL("effect-payer.js", import.meta.url));
/** The built program. From the sources under vitest, and from `test/dist` when run built. */
const program = builtBeside.replace("/test/faults/", "/test/dist/faults/");

export interface PayerProcess {
  /** Resolves once it waits where it was told to, or has ended. */
  readonly holds: Promise<void>;
  /** What it said before it ended. */
  readonly words: readonly string[];
  readonly ended: Promise<void>;
  /** SIGKILL, at once. */
  readonly kill: () => void;
}

export function startPayer(job: PayerJob): PayerProcess {
  const child: ChildProcess = spawn(process.execPath, [program, JSON.stringify(job)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const words: string[] = [];
  const ended = once(child, "exit").then(() => undefined);
  const holds = new Promise<void>((resolve) => {
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      words.push(...text.trim().split("\n"));
      if (words.includes("holds")) resolve();
    });
    void ended.then(resolve);
  });
  return {
    holds,
    words,
    ended,
    kill: () => {
      child.kill("SIGKILL");
    },
  };
}
