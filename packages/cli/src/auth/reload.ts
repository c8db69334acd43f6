import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { reloadServer } from "@candor/bus/server";
import { CandorError, isCandorError } from "@candor/contract";
import type { Credentials } from "@candor/ledger/files";
import { connectAs } from "../embedded/connect.js";
import { livePlace } from "../embedded/place.js";

/** The data folder that an operator's folder belongs to, if `candor up` made it. */
export function dataFolderOf(dir: string): string | undefined {
  const parent = dirname(resolve(dir));
  return existsSync(join(parent, "server.conf")) ? parent : undefined;
}

async function canConnect(url: string, credentials: Credentials): Promise<boolean> {
  try {
    const bus = await connectAs(credentials, url, { provisioned: false, connectTimeoutMs: 1_000 });
    await bus.close();
    return true;
  } catch (error) {
    if (isCandorError(error, "permission-denied", "server-unreachable")) return false;
    throw error;
  }
}

/**
 * Makes the server that runs on an operator's data folder take up a new identity, and waits until that can connect.
 * No connection is dropped.
 *
 * @returns false if no such server runs
 * @throws CandorError `server-failed` if the server does not take it up within `timeoutMs`
 */
export async function reloadFor(dir: string, credentials: Credentials, timeoutMs = 10_000): Promise<boolean> {
  const dataDir = dataFolderOf(dir);
  const place = dataDir === undefined ? undefined : await livePlace(dataDir);
  if (dataDir === undefined || place === undefined) return false;
  await reloadServer(dataDir, timeoutMs);
  const deadline = performance.now() + timeoutMs;
  while (performance.now() < deadline) {
    if (await canConnect(place.url, credentials)) return true;
    await pause(50);
  }
  throw new CandorError(
    "server-failed",
    `The server on ${dataDir} did not take up ${credentials.role} ${credentials.name} within ${timeoutMs / 1000} s: see ${join(dataDir, "server.log")}.`,
  );
}
