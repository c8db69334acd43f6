import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runningServer } from "@candor/bus/server";
import { readRegularFile } from "@candor/ledger/files";

/** What whoever runs a server on a data folder writes there, so that other processes find it. */
export interface Place {
  readonly url: string;
  /** Process that started the server, and that it ends with. */
  readonly owner: number;
}

/** A place whose server runs now. */
export interface LivePlace extends Place {
  /** Process id of the server. */
  readonly pid: number;
}

function fileOf(dataDir: string): string {
  return join(dataDir, "embedded.json");
}

export function writePlace(dataDir: string, place: Place): void {
  const draft = `${fileOf(dataDir)}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify({ version: 1, ...place })}\n`);
  renameSync(draft, fileOf(dataDir));
}

/** Where the server of a data folder was last, whether it runs or not. */
export function lastPlace(dataDir: string): Place | undefined {
  try {
    const { version, url, owner } = JSON.parse(readRegularFile(fileOf(dataDir))) as Record<string, unknown>;
    if (version !== 1 || typeof url !== "string" || typeof owner !== "number") return undefined;
    return { url, owner };
  } catch {
    return undefined;
  }
}

/** Where the server of a data folder is; undefined if none runs. */
export async function livePlace(dataDir: string): Promise<LivePlace | undefined> {
  const place = lastPlace(dataDir);
  const pid = await runningServer(dataDir);
  return place === undefined || pid === undefined ? undefined : { ...place, pid };
}

/** True while there is a process of this id. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
