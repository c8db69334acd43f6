import { spawn } from "node:child_process";

export interface CommandResult {
  readonly status: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
}

/** Runs a program to its end; one that is missing, or that takes too long, has status undefined. */
export function runCommand(
  program: string,
  args: readonly string[],
  { cwd, env = {}, timeoutMs = 120_000 }: CommandOptions = {},
): Promise<CommandResult> {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      ...(cwd === undefined ? {} : { cwd }),
      env: { ...process.env, LC_ALL: "C", ...env },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: timeoutMs,
      killSignal: "SIGKILL",
    });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
    const text = (chunks: readonly Buffer[]): string => Buffer.concat(chunks).toString("utf8");
    child.on("error", (error) => {
      resolve({ status: undefined, stdout: "", stderr: error.message });
    });
    child.on("close", (status) => {
      resolve({ status: status ?? undefined, stdout: text(out), stderr: text(err) });
    });
  });
}
