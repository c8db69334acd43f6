import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, fstatSync, openSync } from "node:fs";
import { open } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { CandorError, errorCodes, type ErrorCode } from "@candor/contract";

export interface GuardProcess {
  readonly name: string;
  readonly logFile: string;
  /** Process id, undefined once it has ended. */
  readonly pid: () => number | undefined;
  /** Resolves with the reason when it ends, whatever ends it. */
  readonly ended: Promise<CandorError>;
  /** Lets it take its last checkpoints and waits for its end. */
  readonly stop: () => Promise<void>;
  readonly kill: (signal?: NodeJS.Signals) => Promise<void>;
}

export interface GuardProcessOptions {
  readonly name: string;
  readonly url: string;
  /** Credentials folder of the guard. */
  readonly credentials: string;
  /** Folder for its log. */
  readonly dataDir: string;
}

/** The guard stops by itself within ten seconds; a little later it is made to. */
const patienceMs = 12_000;
const lastWords = /^candor-guard: (?<code>[a-z-]+): (?<message>.*)$/gm;

function isErrorCode(code: string | undefined): code is ErrorCode {
  return code !== undefined && Object.hasOwn(errorCodes, code);
}

/** What a guard said last before it ended, as the error it meant. */
async function failureOf(logFile: string, start: number, status: string): Promise<CandorError> {
  const handle = await open(logFile, "r").catch(() => undefined);
  const { buffer, bytesRead } = (await handle?.read({ buffer: Buffer.alloc(64 * 1024), position: start })) ?? {
    buffer: Buffer.alloc(0),
    bytesRead: 0,
  };
  await handle?.close();
  const last = [...buffer.toString("utf8", 0, bytesRead).matchAll(lastWords)].at(-1)?.groups;
  const code = last?.["code"];
  return isErrorCode(code)
    ? new CandorError(code, `The guard ended: ${last?.["message"] ?? ""}`)
    : new CandorError("server-failed", `The guard ended (${status}). See ${logFile}.`);
}

/** The guard's program. A process runs built output, also where the tests of this process resolve to sources. */
function guardProgram(): string {
  const { resolve } = createRequire(import.meta.url);
  return resolve("@candor/guard/main").replace(/src([\\/])main\.ts$/, "dist$1main.js");
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/**
 * Starts a guard as a child process that ends with this one, kill -9 included: it watches its standard input.
 */
export function startGuardProcess({ name, url, credentials, dataDir }: GuardProcessOptions): GuardProcess {
  const logFile = join(dataDir, `guard-${name}.log`);
  const log = openSync(logFile, "a");
  const logStart = fstatSync(log).size;
  const args = [guardProgram(), "--servers", url, "--credentials", credentials, "--parent-watch"];
  // In a group of its own: Ctrl-C at a terminal reaches only this process, which then stops the guard in order.
  const child = spawn(process.execPath, args, { stdio: ["pipe", log, log], detached: true });
  closeSync(log);
  child.stdin?.on("error", () => undefined);
  child.unref();
  const ended = new Promise<CandorError>((done) => {
    child.on("error", (cause) => {
      done(new CandorError("defect", `The guard could not be started: ${cause.message}.`, { cause }));
    });
    child.on("exit", (code, signal) => {
      void failureOf(logFile, logStart, signal ?? `exit code ${code ?? "unknown"}`).then(done);
    });
  });
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.pid === undefined || hasEnded(child)) return;
    child.ref();
    child.kill(signal);
    const timer = setTimeout(() => child.kill("SIGKILL"), patienceMs);
    await ended;
    clearTimeout(timer);
  };
  return {
    name,
    logFile,
    pid: () => (hasEnded(child) ? undefined : child.pid),
    ended,
    stop: () => end("SIGTERM"),
    kill: (signal = "SIGKILL") => end(signal),
  };
}
