import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { CandorError } from "@candor/contract";
import { messageSchema, type AgentName, type Job, type Say, type Told } from "../agents/messages.js";

/** The built program, also when this file is run from its source. */
const main = fileURLToPath(new URL("../../dist/agents/main.js", import.meta.url));

const longestWords = 4_096;

export interface AgentProcessOptions {
  readonly say: Say;
  /** Longest time it may take, in ms. */
  readonly limitMs: number;
  /** Ends the process at once. */
  readonly signal: AbortSignal;
}

/**
 * Runs a subagent as a process of its own and waits for its end. It gets its job, the delegation token in it, over the IPC
 * channel, and ends with this process.
 *
 * @returns what its report told
 * @throws CandorError `defect` with what it said, if it ended without a report; `undecided` if it took too long
 * @throws the reason of `signal`
 */
export async function runAgentProcess(name: AgentName, job: Job, options: AgentProcessOptions): Promise<Told> {
  const { limitMs, say, signal } = options;
  signal.throwIfAborted();
  const child = spawn(process.execPath, [main, name], { stdio: ["ignore", "ignore", "pipe", "ipc"] });
  if (child.pid !== undefined) say(`works as process ${child.pid}`);
  const limit = AbortSignal.timeout(limitMs);
  const stop = AbortSignal.any([signal, limit]);
  const kill = (): void => void child.kill("SIGKILL");
  stop.addEventListener("abort", kill, { once: true });
  const ending: { told?: Told; words: string } = { words: "" };
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    ending.words = (ending.words + text).slice(-longestWords);
  });
  child.on("message", (value) => {
    const { data: message } = messageSchema.safeParse(value);
    if (message?.type === "progress") say(message.text);
    else if (message?.type === "told") ending.told = message.told;
    else if (message?.type === "failed") ending.words = `${message.code}: ${message.message}`;
  });
  try {
    await new Promise<void>((resolve) => {
      child.once("error", (error) => {
        ending.words = error.message;
        resolve();
      });
      child.once("close", () => {
        resolve();
      });
      child.send(job, () => undefined);
    });
  } finally {
    stop.removeEventListener("abort", kill);
  }
  if (ending.told !== undefined) return ending.told;
  signal.throwIfAborted();
  if (limit.aborted)
    throw new CandorError("undecided", `The ${name} took longer than ${limitMs / 1_000} s and was stopped.`);
  throw new CandorError("defect", `The ${name} ended without a report: ${ending.words.trim() || "it said nothing"}`);
}
