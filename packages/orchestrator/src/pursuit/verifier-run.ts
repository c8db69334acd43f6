import { spawn, type ChildProcessByStdio } from "node:child_process";
import type { Readable } from "node:stream";
import { probeOutcomes, type ProbeOutcome } from "@candor/contract";
import { exitOutcome, type Verifier } from "@candor/guards";
import { aborted, longestTimerMs } from "../time-limit.js";

/** Code that looks whether the work holds. What it throws makes the look inconclusive. */
export type ProbeLook = (options: { readonly signal: AbortSignal }) => Promise<ProbeOutcome> | ProbeOutcome;

export interface VerifierSurroundings {
  /** Folder that commands run in. */
  readonly cwd?: string;
  /** Variables for commands, beside PATH, HOME, LANG and TMPDIR: what an agent made gets none of this process's secrets. */
  readonly env?: Readonly<Record<string, string>>;
  /** What the verifiers of kind `probe` name. */
  readonly probes?: Readonly<Record<string, ProbeLook>>;
  readonly signal?: AbortSignal;
}

/** What a verifier came to. */
export interface VerifierRun {
  readonly outcome: ProbeOutcome;
  /** Of a command that ended by itself; not by its time limit or a signal, and it could be started. */
  readonly exitCode?: number;
  /** What it printed: the end of it, if it is over a MiB. */
  readonly output: Uint8Array;
  /** Bytes that it printed in all. */
  readonly outputBytes: number;
}

/** Of the output so much is kept. */
const keptBytes = 1024 * 1024;
/** How long what was printed before the end may take to arrive, in ms. */
const lastWordsMs = 1_000;
const passedOn = ["PATH", "HOME", "LANG", "TMPDIR"] as const;

class Output {
  #chunks: Buffer[] = [];
  #held = 0;
  #bytes = 0;

  add(chunk: Buffer): void {
    this.#bytes += chunk.length;
    this.#held += chunk.length;
    this.#chunks.push(chunk);
    if (this.#held > 2 * keptBytes) this.#chunks = [this.#tail()];
  }

  end(): Pick<VerifierRun, "output" | "outputBytes"> {
    return { output: this.#tail(), outputBytes: this.#bytes };
  }

  #tail(): Buffer {
    const tail = Buffer.from(Buffer.concat(this.#chunks).subarray(-keptBytes));
    this.#held = tail.length;
    return tail;
  }
}

/** Runs a verifier once, to its end or its time limit (U5). It never throws: what could not be run is inconclusive. */
export async function runVerifier(verifier: Verifier, surroundings: VerifierSurroundings): Promise<VerifierRun> {
  const limit = AbortSignal.timeout(Math.min(verifier.timeLimitMs, longestTimerMs));
  const signal = surroundings.signal === undefined ? limit : AbortSignal.any([limit, surroundings.signal]);
  const { probes = {} } = surroundings;
  return verifier.kind === "command"
    ? await runCommand(verifier.argv, surroundings, signal)
    : await runProbe(Object.hasOwn(probes, verifier.probe) ? probes[verifier.probe] : undefined, signal);
}

interface Looked {
  readonly outcome: ProbeOutcome;
  readonly text: string;
}

async function lookNow(look: ProbeLook, signal: AbortSignal): Promise<Looked> {
  const found: unknown = await look({ signal });
  const outcome = probeOutcomes.find((one) => one === found);
  return outcome === undefined
    ? { outcome: "inconclusive", text: `it answered something else than ${probeOutcomes.join(", ")}` }
    : { outcome, text: "" };
}

async function runProbe(look: ProbeLook | undefined, signal: AbortSignal): Promise<VerifierRun> {
  const inconclusive = (text: string): Looked => ({ outcome: "inconclusive", text });
  const looked =
    look === undefined
      ? inconclusive("there is no probe of that name")
      : await Promise.race([
          lookNow(look, signal).catch((error: unknown) =>
            inconclusive(error instanceof Error ? error.message : String(error)),
          ),
          aborted(signal).then(() => inconclusive("it did not end within its time limit")),
        ]);
  const output = new Output();
  output.add(Buffer.from(looked.text));
  return { outcome: looked.outcome, ...output.end() };
}

function runCommand(
  [program, ...args]: readonly [string, ...string[]],
  { cwd, env = {} }: VerifierSurroundings,
  signal: AbortSignal,
): Promise<VerifierRun> {
  const own = passedOn.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]));
  const output = new Output();
  let child: ChildProcessByStdio<null, Readable, Readable>;
  try {
    child = spawn(program, args, {
      ...(cwd === undefined ? {} : { cwd }),
      env: { ...(Object.fromEntries(own) as Record<string, string>), ...env },
      stdio: ["ignore", "pipe", "pipe"],
      // In a group of its own, so that whatever it starts ends with it.
      detached: true,
    });
  } catch (error) {
    // A list of arguments that no process can be given: too long, or with a NUL in it.
    output.add(Buffer.from(error instanceof Error ? error.message : String(error)));
    return Promise.resolve({ outcome: "inconclusive", ...output.end() });
  }
  return toItsEnd(child, output, signal);
}

function toItsEnd(
  child: ChildProcessByStdio<null, Readable, Readable>,
  output: Output,
  signal: AbortSignal,
): Promise<VerifierRun> {
  return new Promise((resolve) => {
    const streams = [child.stdout, child.stderr];
    for (const stream of streams) stream.on("data", (chunk: Buffer) => { output.add(chunk); }); // prettier-ignore
    let last: NodeJS.Timeout | undefined;
    let isOver = false;
    const end = (exitCode: number | null): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(last);
      signal.removeEventListener("abort", stop);
      for (const stream of streams) stream.destroy();
      child.unref();
      const code = exitCode ?? undefined;
      resolve({ outcome: exitOutcome(code), ...(code === undefined ? {} : { exitCode: code }), ...output.end() });
    };
    /** What left the group may live on and hold the output open: it is not waited for. */
    const endSoon = (exitCode: number | null): void => {
      if (child.pid !== undefined) killGroup(child.pid);
      clearTimeout(last);
      last = setTimeout(end, lastWordsMs, exitCode);
    };
    const stop = (): void => {
      endSoon(child.exitCode);
    };
    child.once("error", (error) => {
      output.add(Buffer.from(error.message));
      end(null);
    });
    child.once("exit", endSoon);
    child.once("close", end);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // Nothing of the group is left.
  }
}
