import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { runCommand } from "./run-command.js";

/** File in a data folder that holds the process id of the server that runs on it. */
export function pidFile(dataDir: string): string {
  return join(dataDir, "server.pid");
}

/** Command line of a process, empty if there is none such. */
async function commandOf(pid: number): Promise<string> {
  if (existsSync("/proc/self")) return readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  return (await runCommand("ps", ["-o", "command=", "-p", String(pid)], { timeoutMs: 5_000 })).stdout;
}

/** Process id of the server that runs on this data folder, if one does. A stale file, or a reused id, counts as none. */
export async function runningServer(dataDir: string): Promise<number | undefined> {
  const pid = Number.parseInt(await readFile(pidFile(dataDir), "utf8").catch(() => ""), 10);
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
  return (await commandOf(pid)).includes(join(dataDir, "server.conf")) ? pid : undefined;
}
