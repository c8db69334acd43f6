import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { CandorError } from "@candor/contract";
import { runningServer } from "./pid-file.js";
import { essence, logEnd, logSince } from "./server-log.js";

/** Signals once and waits for the server to say how it went. */
async function signal(dataDir: string, timeoutMs: number): Promise<void> {
  const logFile = join(dataDir, "server.log");
  const logStart = await logEnd(logFile);
  const pid = await runningServer(dataDir);
  if (pid === undefined) {
    throw new CandorError("server-failed", `No server runs on the data folder ${dataDir}, so none can reload.`);
  }
  process.kill(pid, "SIGHUP");
  const deadline = performance.now() + timeoutMs;
  let log = "";
  while (performance.now() < deadline) {
    log = await logSince(logFile, logStart);
    if (log.includes("Reloaded server configuration")) return;
    if (log.includes("Failed to reload")) break;
    await pause(4);
  }
  throw new CandorError(
    "server-failed",
    `nats-server did not take up its new configuration and goes on with the old one. It said: ${essence(log)}.`,
  );
}

/**
 * Makes the server that runs on a data folder read its configuration anew, whichever process started it.
 * No connection is dropped, but a request or two that fall into that moment may go unanswered.
 *
 * It takes two signals: nats-server 2.15 binds what a newly added account imports to the exporting account as it is
 * during that reload, which is then thrown away, and binds it rightly with the next one.
 *
 * @throws CandorError `server-failed` if none runs there, or if it refuses the configuration and keeps the old one
 */
export async function reloadServer(dataDir: string, timeoutMs = 10_000): Promise<void> {
  for (let time = 0; time < 2; time++) await signal(resolve(dataDir), timeoutMs);
}
