import { spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { closeSync, existsSync, openSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { CandorError, silentLogger, type Logger } from "@candor/contract";
import { findServer } from "./binary.js";
import { freePort, isPortFree } from "./free-port.js";
import { pidFile, runningServer } from "./pid-file.js";
import { serverConfigText, type ClusterConfig, type StoreLimits } from "./server-config.js";
import { serverInfo } from "./server-info.js";
import { reloadServer } from "./reload.js";
import { logEnd, logSince, serverFailure } from "./server-log.js";
import { requireVersion } from "./version.js";
import { watchOver } from "./watchdog.js";

export interface LaunchOptions {
  /** Holds `server.conf`, `server.log`, `server.pid` and `jetstream/`; made if it is not there. */
  readonly dataDir: string;
  /** A free one by default. */
  readonly port?: number;
  /** 127.0.0.1 by default. */
  readonly host?: string;
  /** Authorization file; without one anybody may do anything. */
  readonly authFile?: string;
  readonly cluster?: ClusterConfig;
  readonly limits?: StoreLimits;
  /** Flush every message to disk before it is acknowledged; off by default, when the server does so every two minutes. */
  readonly syncAlways?: boolean;
  /** Outlive this process. By default the server ends with it, whatever ends it. */
  readonly detached?: boolean;
  /** False for a server without JetStream. */
  readonly jetstream?: boolean;
  /** Program to run; by default the one that `findServer` finds. */
  readonly program?: string;
  readonly serverName?: string;
  /** How long it may take to become ready; 60,000 by default, since a large store takes time to recover. */
  readonly startTimeoutMs?: number;
  readonly logger?: Logger;
}

/** A nats-server that this process started. */
export interface ServerHandle {
  readonly host: string;
  readonly port: number;
  /** What clients connect to, `nats://host:port`. */
  readonly url: string;
  readonly dataDir: string;
  readonly logFile: string;
  readonly version: string;
  readonly serverName: string;
  /** Process id, undefined while it does not run. */
  readonly pid: () => number | undefined;
  /** Ends it in an orderly way. */
  readonly stop: () => Promise<void>;
  /** Sends a signal, `SIGKILL` by default, and waits for the process to end. */
  readonly kill: (signal?: NodeJS.Signals) => Promise<void>;
  /** Starts it again on the same port and data, after stopping it if it runs. */
  readonly restart: () => Promise<void>;
  /** Makes it read its configuration anew; no connection is dropped. @throws CandorError `server-failed` if it refuses */
  readonly reload: () => Promise<void>;
}

interface Running {
  readonly process: ChildProcess;
  readonly pid: number;
  readonly ended: Promise<void>;
  readonly hasEnded: () => boolean;
}

/** Like a recursive mkdir, which never returns where folders can't be made at all, as in /proc. */
async function makeFolder(path: string): Promise<void> {
  if (existsSync(path) || path === dirname(path)) return;
  await makeFolder(dirname(path));
  await mkdir(path).catch((error: unknown) => {
    if (!existsSync(path)) throw error;
  });
}

async function prepareFolder(dataDir: string): Promise<void> {
  try {
    await makeFolder(dataDir);
    const probe = join(dataDir, `.candor-${randomBytes(6).toString("hex")}`);
    await writeFile(probe, "");
    await rm(probe);
  } catch (cause) {
    throw new CandorError(
      "folder-not-writable",
      `The data folder ${dataDir} can't be written: choose another, or correct its owner and rights.`,
      { cause },
    );
  }
  const other = await runningServer(dataDir);
  if (other !== undefined) {
    throw new CandorError(
      "server-failed",
      `A server (process ${other}) already runs on the data folder ${dataDir}: stop it, or choose another folder.`,
      { details: { pid: other } },
    );
  }
}

async function requireFree(host: string, port: number): Promise<void> {
  if (await isPortFree(host, port)) return;
  throw new CandorError("port-taken", `Port ${port} on ${host} is taken: stop what uses it, or choose another port.`, {
    details: { host, port },
  });
}

function run(program: string, dataDir: string, logFile: string, detached: boolean): Running {
  const log = openSync(logFile, "a");
  // In a group of its own: Ctrl-C at a terminal reaches only this process, which then stops the server in order.
  const child = spawn(program, ["-c", join(dataDir, "server.conf")], { stdio: ["ignore", log, log], detached: true });
  closeSync(log);
  let over = false;
  const ended = new Promise<void>((done) => {
    const end = (): void => {
      over = true;
      done();
    };
    child.on("exit", end);
    child.on("error", end);
  });
  const { pid = -1 } = child;
  if (!detached && pid > 0) {
    const watchdog = watchOver(pid);
    void ended.then(() => watchdog.kill("SIGKILL"));
  }
  child.unref();
  return { process: child, pid, ended, hasEnded: () => over };
}

/**
 * Starts a nats-server as a child process and waits until it answers.
 *
 * It ends with this process, kill -9 included, unless `detached`.
 *
 * @throws CandorError `port-taken`, `folder-not-writable`, `server-too-old`, `server-missing`, or `server-failed` with
 *   what the server said
 */
export async function launchServer(options: LaunchOptions): Promise<ServerHandle> {
  const { host = "127.0.0.1", detached = false, startTimeoutMs = 60_000, logger = silentLogger } = options;
  const dataDir = resolve(options.dataDir);
  const logFile = join(dataDir, "server.log");
  const serverName = options.serverName ?? `candor-${randomBytes(4).toString("hex")}`;
  const program = options.program ?? (await findServer({ logger })).path;
  let running: Running | undefined;
  let version = "";

  const waitUntilReady = async (port: number, logStart: number): Promise<void> => {
    const deadline = performance.now() + startTimeoutMs;
    while (running?.hasEnded() === false && performance.now() < deadline) {
      const info = await serverInfo(host, port);
      // The name tells it from another server that took the port first.
      if (info?.serverName === serverName) {
        version = info.version;
        return;
      }
      await pause(4);
    }
    const what = running?.hasEnded() === true ? "ended at once" : `was not ready within ${startTimeoutMs / 1000} s`;
    await stopProcess("SIGKILL");
    throw serverFailure(await logSince(logFile, logStart), logFile, what);
  };

  const start = async (port: number): Promise<void> => {
    const config = { ...options, host, port, dataDir, serverName };
    const { syncAlways = false, jetstream = true } = options;
    const authFile = options.authFile === undefined ? {} : { authFile: resolve(options.authFile) };
    await writeFile(join(dataDir, "server.conf"), serverConfigText({ ...config, ...authFile, syncAlways, jetstream }));
    const logStart = await logEnd(logFile);
    running = run(program, dataDir, logFile, detached);
    await writeFile(pidFile(dataDir), `${running.pid}\n`);
    await waitUntilReady(port, logStart);
    logger.info({ port, version, pid: running.pid }, "nats-server is ready");
  };

  const stopProcess = async (signal: NodeJS.Signals, patienceMs = 10_000): Promise<void> => {
    const stopping = running;
    if (stopping === undefined) return;
    if (!stopping.hasEnded()) {
      stopping.process.ref();
      stopping.process.kill(signal);
      const timer = setTimeout(() => stopping.process.kill("SIGKILL"), patienceMs);
      await stopping.ended;
      clearTimeout(timer);
    }
    running = undefined;
    await rm(pidFile(dataDir), { force: true });
  };

  /** A port of our own choice may be gone by the time the server listens; then another is as good. */
  const startAnywhere = async (attemptsLeft = 5): Promise<number> => {
    const port = await freePort(host);
    try {
      await start(port);
      return port;
    } catch (error) {
      if (attemptsLeft > 1 && error instanceof CandorError && error.code === "port-taken") {
        return startAnywhere(attemptsLeft - 1);
      }
      throw error;
    }
  };

  await prepareFolder(dataDir);
  let port = options.port;
  if (port === undefined) port = await startAnywhere();
  else {
    await requireFree(host, port);
    await start(port);
  }
  const boundPort = port;
  try {
    requireVersion(version, `${host}:${boundPort}`);
  } catch (error) {
    await stopProcess("SIGKILL");
    throw error;
  }

  return {
    host,
    port: boundPort,
    url: `nats://${host}:${boundPort}`,
    dataDir,
    logFile,
    version,
    serverName,
    pid: () => (running?.hasEnded() === false ? running.pid : undefined),
    stop: () => stopProcess("SIGTERM"),
    kill: (signal = "SIGKILL") => stopProcess(signal),
    restart: async () => {
      await stopProcess("SIGTERM");
      await requireFree(host, boundPort);
      await start(boundPort);
    },
    reload: () => reloadServer(dataDir),
  };
}
