import { jetstream, jetstreamManager, type JetStreamClient, type JetStreamManager } from "@nats-io/jetstream";
import { connect, errors, nkeyAuthenticator, type NatsConnection } from "@nats-io/transport-node";
import { setTimeout as pause } from "node:timers/promises";
import { CandorError, silentLogger, streams, utf8, type Logger } from "@candor/contract";
import { apiRequest, streamNotFound } from "./jetstream-api.js";
import { identityOfStreams, notProvisioned } from "./provisioning.js";
import { apiPrefixOf, inboxPrefix as inboxPrefixOf, roleTable, type IdentityRole } from "./roles.js";
import { requireAddresses } from "./server-address.js";
import { requireVersion } from "./server/version.js";
import type { StreamDocument } from "./stream-documents.js";

export interface BusOptions {
  /** `nats://host:port`, one or several of one cluster; in a text, with commas between. */
  readonly servers: string | readonly string[];
  readonly identity: { readonly role: IdentityRole; readonly name: string };
  /** Seed of the connection key, `SU…`. */
  readonly connectionSeed: string;
  /** The role's own by default. */
  readonly inboxPrefix?: string;
  /** The role's own by default. */
  readonly apiPrefix?: string;
  /** Public key of the operator that the streams must name; not checked if it is not given. */
  readonly operator?: string;
  /** Total wait for a first connection; 10,000 by default. Later it reconnects for ever. */
  readonly connectTimeoutMs?: number;
  /** Called once if nobody has answered within a second. */
  readonly onSlow?: () => void;
  /** False for whoever is about to make the streams. */
  readonly provisioned?: boolean;
  readonly logger?: Logger;
}

/** A connection to the server in one role, with its JetStream clients. */
export interface Bus {
  readonly nc: NatsConnection;
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
  readonly identity: { readonly role: IdentityRole; readonly name: string };
  readonly apiPrefix: string;
  readonly inboxPrefix: string;
  readonly serverVersion: string;
  /** Number of lanes; undefined for a role that may not ask. */
  readonly lanes: number | undefined;
  /** Public key of the operator that the streams name; undefined for a role that may not ask. */
  readonly operator: string | undefined;
  /** Sends what is under way, then closes. */
  readonly close: () => Promise<void>;
}

const slowMs = 1_000;

function authenticator(seed: string): ReturnType<typeof nkeyAuthenticator> {
  if (/^SU[A-Z2-7]{56}$/.test(seed.trim())) return nkeyAuthenticator(utf8(seed.trim()));
  throw new CandorError("bad-key", "The connection seed is not the seed of a NATS user key (SU…, 58 letters).");
}

function connectFailure(cause: unknown, servers: readonly string[], name: string): CandorError {
  if (cause instanceof errors.AuthorizationError || cause instanceof errors.UserAuthenticationExpiredError) {
    return new CandorError(
      "permission-denied",
      `The server refused the connection key of ${name}: add the identity with "candor auth add", and have the server reload.`,
      { cause },
    );
  }
  return new CandorError(
    "server-unreachable",
    `No NATS server answers at ${servers.join(", ")}: check the address, and that the server runs.`,
    { cause },
  );
}

/** Repeats while nobody answers; a refused key is final at once. */
async function connectWithin(
  options: BusOptions,
  servers: readonly string[],
  inboxPrefix: string,
): Promise<NatsConnection> {
  const { role, name } = options.identity;
  const { connectTimeoutMs = 10_000, onSlow } = options;
  const deadline = performance.now() + connectTimeoutMs;
  const auth = authenticator(options.connectionSeed);
  let slow = onSlow;
  for (;;) {
    try {
      return await connect({
        servers: [...servers],
        name: `candor ${role} ${name}`,
        authenticator: auth,
        inboxPrefix,
        // Also of each later attempt: a server that dies during the handshake shows only by this.
        timeout: Math.max(250, Math.min(1_000, deadline - performance.now())),
        maxReconnectAttempts: -1,
        reconnectTimeWait: 100,
        reconnectJitter: 100,
        // A server that hangs without closing the connection is noticed within three of these.
        pingInterval: 5_000,
        maxPingOut: 2,
      });
    } catch (cause) {
      const failure = connectFailure(cause, servers, `${role} ${name}`);
      if (failure.code !== "server-unreachable" || performance.now() + 100 > deadline) throw failure;
      if (performance.now() > deadline - connectTimeoutMs + slowMs) {
        slow?.();
        slow = undefined;
      }
      await pause(100);
    }
  }
}

async function logStatus(nc: NatsConnection, logger: Logger): Promise<void> {
  for await (const status of nc.status()) {
    const isTrouble = status.type === "disconnect" || status.type === "error" || status.type === "staleConnection";
    logger[isTrouble ? "warn" : "debug"]({ ...status }, `connection: ${status.type}`);
  }
}

/** The first of our streams whose description this role may ask for. */
function describable(role: IdentityRole, name: string): string | undefined {
  const requests: readonly string[] = roleTable[role].api(name);
  return Object.values(streams).find((stream) => requests.includes(">") || requests.includes(`STREAM.INFO.${stream}`));
}

async function readIdentity(bus: Omit<Bus, "lanes" | "operator">): Promise<Pick<Bus, "lanes" | "operator">> {
  const { nc, apiPrefix, identity } = bus;
  const stream = describable(identity.role, identity.name);
  if (stream === undefined) {
    await requireLog(nc, apiPrefix);
    return { lanes: undefined, operator: undefined };
  }
  // Short attempts within a long wait: a member of a cluster that has just died never answers, its heir soon does.
  const answer = await apiRequest(nc, `${apiPrefix}.STREAM.INFO.${stream}`, undefined, 10_000, 1_500);
  if (answer.ok) return identityOfStreams(answer.body["config"] as StreamDocument);
  if (answer.failure.errCode === streamNotFound) throw notProvisioned();
  throw new CandorError("server-failed", `The server can't describe its streams: ${answer.failure.description}.`);
}

/**
 * A look-up of an intent that can't exist: "no message" means that the log is there, no answer that it is not, or, for
 * some moments, that a cluster changes its leader or that the server takes up new permissions.
 */
async function requireLog(nc: NatsConnection, apiPrefix: string): Promise<void> {
  const request = `${apiPrefix}.DIRECT.GET.${streams.log}.candor.log._._._.orch._.intent`;
  const deadline = performance.now() + (nc.info?.cluster === undefined ? 500 : 10_000);
  for (;;) {
    try {
      await nc.request(request, "", { timeout: 2_000 });
      return;
    } catch (cause) {
      if (performance.now() > deadline) throw notProvisioned(cause);
      await pause(50);
    }
  }
}

function requireServer(nc: NatsConnection): void {
  const { info } = nc;
  requireVersion(info?.version ?? "0", nc.getServer());
  if (info?.jetstream !== true) {
    throw new CandorError(
      "no-jetstream",
      `The server at ${nc.getServer()} runs without JetStream: start it with "jetstream" in its configuration, or with -js.`,
    );
  }
}

function requireOperator(expected: string | undefined, found: string | undefined): void {
  if (expected === undefined || found === undefined || expected === found) return;
  throw new CandorError(
    "streams-differ",
    `The streams belong to the operator ${found}, but this identity trusts ${expected}: check the server's address and the credentials.`,
  );
}

/**
 * Connects in one role and checks that the server is one that Candor can rely on.
 *
 * Later interruptions are waited out for ever, with short pauses.
 *
 * @throws CandorError `bad-argument` for what is no address, `server-unreachable` within `connectTimeoutMs`, `permission-denied`, `bad-key`, `server-too-old`,
 *   `no-jetstream`, `not-provisioned`, `streams-differ`
 */
export async function connectBus(options: BusOptions): Promise<Bus> {
  const { identity, logger = silentLogger, provisioned = true } = options;
  const servers =
    typeof options.servers === "string" ? options.servers.split(",").map((url) => url.trim()) : options.servers;
  requireAddresses(servers);
  const inboxPrefix = options.inboxPrefix ?? inboxPrefixOf(identity.role, identity.name);
  const nc = await connectWithin(options, servers, inboxPrefix);
  try {
    requireServer(nc);
    void logStatus(nc, logger);
    const apiPrefix = options.apiPrefix ?? apiPrefixOf(identity.role);
    const bus = {
      nc,
      js: jetstream(nc, { apiPrefix }),
      jsm: await jetstreamManager(nc, { apiPrefix, checkAPI: false }),
      identity,
      apiPrefix,
      inboxPrefix,
      serverVersion: nc.info?.version ?? "",
      close: async () => {
        if (!nc.isClosed()) await nc.drain().catch(() => nc.close());
      },
    };
    const known = provisioned ? await readIdentity(bus) : { lanes: undefined, operator: undefined };
    requireOperator(options.operator, known.operator);
    return { ...bus, ...known };
  } catch (error) {
    await nc.close();
    throw error;
  }
}
