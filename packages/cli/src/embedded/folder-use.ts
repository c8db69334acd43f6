import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { runningServer } from "@candor/bus/server";
import { CandorError } from "@candor/contract";
import { FolderLock } from "@candor/ledger/files";
import { makeFolder } from "../folder.js";
import { isAlive, lastPlace, livePlace } from "./place.js";

/** The error for a data folder that a server runs on already. */
export function inUse(dataDir: string, pid: number): CandorError {
  const url = lastPlace(dataDir)?.url;
  return new CandorError(
    "server-failed",
    `A server already runs on ${dataDir} (process ${pid}, at ${url ?? "an unknown address"}). Use that one, stop it (Ctrl-C where it was started, or: kill ${pid}), or name another folder.`,
    { details: { pid, url } },
  );
}

/**
 * Makes a data folder this process's own until it is released, or the process ends: of several that start on it at
 * once, one goes on.
 *
 * @throws CandorError `server-failed` while another process has it, `folder-not-writable`
 */
export async function lockFolder(dataDir: string): Promise<FolderLock> {
  const folder = join(dataDir, "lock");
  makeFolder(folder);
  let starting: CandorError | undefined;
  try {
    return FolderLock.take(folder, {
      locked: (holder) => {
        const who = holder === undefined ? "another process" : `process ${holder.pid} on ${holder.host}`;
        starting = new CandorError(
          "server-failed",
          `Candor is being started or ended on ${dataDir} already, by ${who}. Wait for it, or name another folder; if that process is certainly gone, remove ${folder}.`,
          { details: { pid: holder?.pid } },
        );
        return starting;
      },
    });
  } catch (error) {
    if (starting === undefined) throw error;
    const place = await livePlace(dataDir);
    throw place === undefined ? starting : inUse(dataDir, place.pid);
  }
}

function terminate(pid: number): void {
  try {
    process.kill(pid, "SIGTERM");
  } catch {
    // It ended meanwhile, or is another user's: it is looked at again.
  }
}

/**
 * Waits for the end of a server that its owner left behind on a data folder. It ends with its owner by itself; where
 * what sees to that was killed too, it is told to end, since nobody else will. To be called by who has the folder's lock.
 *
 * @throws CandorError `server-failed` if the owner lives, is not known, or the server does not end
 */
export async function requireUnused(dataDir: string, patienceMs = 10_000): Promise<void> {
  const deadline = performance.now() + patienceMs;
  for (let told = false; ; told = true) {
    const pid = await runningServer(dataDir);
    if (pid === undefined) return;
    const owner = lastPlace(dataDir)?.owner;
    if (owner === undefined || isAlive(owner) || performance.now() > deadline) throw inUse(dataDir, pid);
    if (!told) terminate(pid);
    await pause(50);
  }
}
