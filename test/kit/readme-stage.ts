import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { CandorError } from "@candor/contract";
import { candorPath, startCandor } from "./candor.js";
import { root } from "./readme.js";

/** The address that READMEs name. */
const customaryUrl = "nats://127.0.0.1:4222";
const runFile = promisify(execFile);
const longestMs = 50_000;

/** A folder that stands for the checkout, with `candor up` in it, in which blocks of READMEs run as they stand. */
export interface ReadmeStage {
  readonly dir: string;
  /** Makes another folder with the same server and identities, in which nothing was run yet. */
  readonly another: (name: string) => Promise<string>;
  /** The text with the server's real address in place of the one that READMEs name. */
  readonly localized: (text: string) => string;
  /** Runs a program with Node, to its end. @returns what it printed */
  readonly node: (file: string, cwd?: string) => Promise<string>;
  /** Runs a block of shell commands. @param until ends it once it has printed this @returns what it printed */
  readonly shell: (text: string, until?: string) => Promise<string>;
  readonly close: () => Promise<void>;
}

/** What a checkout has in it for a program that is saved there. */
async function resemble(dir: string): Promise<void> {
  await symlink(join(root, "test/node_modules"), join(dir, "node_modules"));
  for (const folder of ["packages", "services"]) await symlink(join(root, folder), join(dir, folder));
  await mkdir(join(dir, "bin"));
  const candor = join(dir, "bin/candor");
  await writeFile(candor, `#!/bin/sh\nexec "${process.execPath}" "${candorPath}" "$@"\n`);
  await chmod(candor, 0o755);
}

/** Resolves with what was printed when it ends by itself in good order, or when it is made to end. */
async function runShell(
  text: string,
  until: string | undefined,
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<string> {
  // In a group of its own, so that what it started ends with it.
  const child = spawn("sh", ["-e", "-c", text], { ...options, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  let printed = "";
  let isStopped = false;
  const stop = (signal: NodeJS.Signals): void => {
    isStopped = true;
    if (child.pid !== undefined) process.kill(-child.pid, signal);
  };
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      printed += chunk;
      if (until !== undefined && !isStopped && printed.includes(until)) stop("SIGTERM");
    });
  }
  const limit = setTimeout(() => {
    stop("SIGKILL");
  }, longestMs);
  const [code] = (await once(child, "close")) as [number | null];
  clearTimeout(limit);
  if (until === undefined ? code === 0 : printed.includes(until)) return printed;
  throw new CandorError("server-failed", `These commands ended with ${code ?? "a signal"}: ${text}\n${printed}`);
}

export async function startReadmeStage(): Promise<ReadmeStage> {
  const dir = await mkdtemp(join(tmpdir(), "candor-readme-"));
  await resemble(dir);
  const up = startCandor(["up", "--port", "0"], { cwd: dir });
  const close = async (): Promise<void> => {
    up.child.kill("SIGINT");
    await up.ended;
    await rm(dir, { recursive: true, force: true });
  };
  try {
    await up.printed("Ctrl-C");
  } catch (error) {
    await close();
    throw error;
  }
  const url = /nats:\/\/[\d.:]+/.exec(up.stdout())?.[0] ?? "";
  const env = { ...process.env, CANDOR_SERVERS: url, PATH: `${join(dir, "bin")}:${process.env["PATH"] ?? ""}` };
  const localized = (text: string): string => text.replaceAll(customaryUrl, url);
  return {
    dir,
    another: async (name) => {
      const other = join(dir, name);
      await cp(join(dir, "candor-data/auth"), join(other, "candor-data/auth"), { recursive: true });
      await resemble(other);
      return other;
    },
    localized,
    node: async (file, cwd = dir) => (await runFile(process.execPath, [file], { cwd, env, timeout: longestMs })).stdout,
    shell: (text, until) => runShell(localized(text), until, { cwd: dir, env }),
    close,
  };
}
