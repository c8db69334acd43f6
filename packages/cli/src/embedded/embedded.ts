import { join, resolve } from "node:path";
import { applyStreams } from "@candor/bus";
import { launchServer, reloadServer, type ServerHandle } from "@candor/bus/server";
import { silentLogger, type Logger } from "@candor/contract";
import type { Credentials, FolderLock } from "@candor/ledger/files";
import {
  addIdentity,
  authorizationFile,
  credentialsFolder,
  ensureIdentities,
  requireFolder,
  initAuth,
  type IdentityName,
} from "../auth/auth-folder.js";
import { makeFolder } from "../folder.js";
import { connectAs } from "./connect.js";
import { startGuardProcess, type GuardProcess } from "./guard-process.js";
import { untilGuarded, type LaneState } from "./guard-ready.js";
import { defaultIdentities } from "./identities.js";
import { lockFolder, requireUnused } from "./folder-use.js";
import { isOrphaned, orphanedData } from "./orphaned-data.js";
import { writePlace } from "./place.js";

export interface EmbeddedOptions {
  /** Made if it is not there; everything is kept in it. */
  readonly dataDir: string;
  /** A free one by default. */
  readonly port?: number;
  /** Fixed when the streams are made; 16 by default. */
  readonly lanes?: number;
  /** Identities to make if they are not there; one of each role by default. */
  readonly identities?: readonly IdentityName[];
  /** Names of the guards to start, `guard-1` alone by default. With none the streams are left as they are. */
  readonly guards?: readonly string[];
  /** Told what is being done, for people who wait. */
  readonly onStep?: (text: string) => void;
  readonly logger?: Logger;
}

/** A server of our own with permissions, streams and guards. It ends with this process, whatever ends it. */
export interface Embedded {
  readonly url: string;
  readonly dataDir: string;
  /** The operator's folder: credentials of all identities. */
  readonly authDir: string;
  readonly operator: Credentials;
  /** Undefined if no streams were made. */
  readonly lanes: number | undefined;
  readonly server: ServerHandle;
  readonly guards: readonly GuardProcess[];
  /** Lanes whose guard refuses to go on, because their log is not the one that was judged. */
  readonly haltedLanes: readonly LaneState[];
  /** Credentials folder of an identity. */
  readonly credentials: (identity: IdentityName) => string;
  /** Makes an identity that can connect at once. @returns its credentials folder */
  readonly addIdentity: (identity: IdentityName) => Promise<string>;
  /** Stops guards and server in order. */
  readonly stop: () => Promise<void>;
}

/**
 * Starts a nats-server on a data folder with permissions on, makes the streams, and starts guards as child processes.
 *
 * Of several that start on one folder at once, one does.
 *
 * @throws CandorError `not-found` if the folder holds streams without their operator's keys, or a guard's credentials are gone;
 *   `port-taken`, `folder-not-writable`, `server-missing`, `server-too-old`, `server-failed` (also if one runs or
 *   starts on the folder already), `streams-differ`, or what a guard said when it ended
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const dataDir = resolve(options.dataDir);
  // Before anything is made: a new operator would find the streams to be another's.
  if (isOrphaned(dataDir)) throw orphanedData(dataDir);
  makeFolder(dataDir);
  const lock = await lockFolder(dataDir);
  try {
    await requireUnused(dataDir);
    return await startLocked(options, lock);
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function startLocked(options: EmbeddedOptions, lock: FolderLock): Promise<Embedded> {
  const { identities = defaultIdentities, guards: guardNames = ["guard-1"], logger = silentLogger } = options;
  const { onStep = () => undefined } = options;
  const dataDir = resolve(options.dataDir);
  const authDir = join(dataDir, "auth");
  const { operator } = await initAuth(authDir);
  const guardIdentities = guardNames.map((name) => ({ role: "guard", name }) as const);
  await ensureIdentities(authDir, [...guardIdentities, ...identities]);
  for (const guard of guardIdentities) requireFolder(authDir, guard);

  onStep("starting nats-server");
  const server = await launchServer({
    dataDir,
    authFile: authorizationFile(authDir),
    logger,
    ...(options.port === undefined ? {} : { port: options.port }),
  });
  writePlace(dataDir, { url: server.url, owner: process.pid });
  const guards: GuardProcess[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(guards.map((guard) => guard.stop()));
    await server.stop();
    lock.release();
  };
  try {
    const started = guardNames.length === 0 ? undefined : await startGuards();
    return {
      url: server.url,
      dataDir,
      authDir,
      operator,
      lanes: started?.lanes,
      server,
      guards,
      haltedLanes: started?.halted ?? [],
      credentials: (identity) => credentialsFolder(authDir, identity),
      addIdentity: async (identity) => {
        const { folder } = await addIdentity(authDir, identity);
        await reloadServer(dataDir);
        return folder;
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }

  async function startGuards(): Promise<{ readonly lanes: number; readonly halted: readonly LaneState[] }> {
    onStep("making streams");
    const bus = await connectAs(operator, server.url, { provisioned: false, logger });
    try {
      const { lanes } = await applyStreams(bus.nc, {
        operator: operator.trust.operator,
        logger,
        ...(options.lanes === undefined ? {} : { lanes: options.lanes }),
      });
      onStep("starting the guard");
      for (const identity of guardIdentities) {
        const { name } = identity;
        const credentials = credentialsFolder(authDir, identity);
        guards.push(startGuardProcess({ name, url: server.url, credentials, dataDir }));
      }
      return { lanes, halted: await untilGuarded(bus, lanes, guards, { onStep }) };
    } finally {
      await bus.close();
    }
  }
}
