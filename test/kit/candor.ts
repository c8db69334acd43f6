import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { createTerminal, runCli } from "@candor/cli";
import { CandorError } from "@candor/contract";

const builtMain = fileURLToPath(new URL("../../packages/cli/dist/main.js", import.meta.url));
/** The built command. From the sources under vitest, and from `test/dist` when run built. */
export const candorPath = builtMain.includes("/test/packages/")
  ? builtMain.replace("/test/packages/", "/packages/")
  : builtMain;

export interface CandorOptions {
  /** On top of this process's environment; undefined takes a variable away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
}

export interface CandorResult {
  /** Exit code, or the signal that ended it. */
  readonly exit: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningCandor {
  readonly child: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Waits until it has printed the text. */
  readonly printed: (text: string | RegExp) => Promise<void>;
  readonly ended: Promise<CandorResult>;
}

/** What a command line is run in: that of this process, without what changes how its output looks. */
function environmentOf({ env = {} }: CandorOptions): Readonly<Record<string, string | undefined>> {
  return { ...process.env, NO_COLOR: undefined, FORCE_COLOR: undefined, DEBUG: undefined, ...env };
}

/** Starts the built command line as a process of its own. */
export function startCandor(args: readonly string[], options: CandorOptions = {}): RunningCandor {
  const { cwd } = options;
  const child = spawn(process.execPath, [candorPath, ...args], {
    ...(cwd === undefined ? {} : { cwd }),
    env: environmentOf(options),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const ended = once(child, "close").then(([code, signal]: (number | string | null)[]) => ({
    exit: code ?? signal ?? "unknown",
    stdout,
    stderr,
  }));
  return {
    child,
    stdout: () => stdout,
    stderr: () => stderr,
    printed: async (text) => {
      const isThere = (): boolean => (typeof text === "string" ? stdout.includes(text) : text.test(stdout));
      while (!isThere()) {
        const over = await Promise.race([once(child.stdout, "data").then(() => undefined), ended]);
        if (over !== undefined && !isThere()) {
          throw new CandorError(
            "server-failed",
            `candor ended with ${over.exit} before it said ${String(text)}: ${stderr}`,
          );
        }
      }
    },
    ended,
  };
}

/** Runs one command line to its end, as a process of its own. */
export function candor(args: readonly string[], options?: CandorOptions): Promise<CandorResult> {
  return startCandor(args, options).ended;
}

/**
 * Runs one command line to its end in this process: all of it but the few lines of `main.ts`. Most of what a process
 * costs is its start, so this is for tests of what a command does; `candor` is for those of the command as a process.
 */
export async function candorHere(
  args: readonly string[],
  options: Omit<CandorOptions, "cwd"> = {},
): Promise<CandorResult> {
  const texts = { stdout: "", stderr: "" };
  const into = (name: keyof typeof texts): Writable =>
    new Writable({
      decodeStrings: false,
      write: (text: string, _, done) => {
        texts[name] += text;
        done();
      },
    });
  const environment = environmentOf(options);
  const terminal = createTerminal({ stdout: into("stdout"), stderr: into("stderr"), environment });
  const exit = await runCli(args, terminal, environment);
  return { exit, ...texts };
}

/** Ids of the processes whose command line names the text, as that of everything that belongs to a data folder does. */
export async function processesOf(text: string): Promise<readonly number[]> {
  const { readdir } = await import("node:fs/promises");
  const ids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const lines = await Promise.all(ids.map((id) => readFile(`/proc/${id}/cmdline`, "utf8").catch(() => "")));
  return ids.filter((id, index) => id !== process.pid && (lines[index] ?? "").includes(text));
}
