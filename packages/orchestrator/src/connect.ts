import { connectWith, type Bus } from "@candor/bus";
import { CandorError, silentLogger, type Certificate, type Logger } from "@candor/contract";
import { parseCredentials, readCredentials, type Credentials } from "@candor/ledger/files";
import { createLogClient, createProbeClient } from "./bus-client.js";
import { Fleet } from "./fleet.js";
import { Memory } from "./memory.js";
import { Prober } from "./prober.js";

export interface ConnectOptions {
  /** `nats://host:port`, one or several of one cluster; those in the credentials by default. */
  readonly servers?: string | readonly string[];
  /**
   * A credentials folder, as `candor auth add` made it, the name of an environment variable that holds what `candor auth
   * export` printed, or credentials already read.
   */
  readonly credentials: string | { readonly env: string } | Credentials;
  /** Total wait for a first connection, in ms; 10,000 by default. Later it reconnects for ever. */
  readonly connectTimeoutMs?: number;
  readonly logger?: Logger;
}

export interface OrchestratorOptions extends ConnectOptions {
  /** Folder to remember the log in between connections; without one, only while the process lives. */
  readonly memoryDir?: string;
  /** Longest wait for the guard's word on a task's last intent before the next is sent, in ms; 2,000 by default. */
  readonly intentPatienceMs?: number;
}

interface Connected {
  readonly bus: Bus;
  readonly credentials: Credentials;
  readonly certificate: Certificate;
}

function credentialsFrom(source: ConnectOptions["credentials"]): Credentials {
  if (typeof source === "string") return readCredentials(source);
  if ("role" in source) return source;
  const text = process.env[source.env];
  if (text !== undefined && text !== "") return parseCredentials(text, source.env);
  throw new CandorError("not-found", `The environment variable ${source.env} is not set: it should hold credentials.`, {
    path: "credentials",
  });
}

async function connectAs(role: "orchestrator" | "prober", options: ConnectOptions): Promise<Connected> {
  const credentials = credentialsFrom(options.credentials);
  const { name, certificate } = credentials;
  if (credentials.role !== role || certificate === undefined) {
    throw new CandorError(
      "bad-argument",
      `These are the credentials of ${credentials.role} ${name}, and those of an identity of role ${role} are needed.`,
      { path: "credentials" },
    );
  }
  const servers = options.servers ?? credentials.servers;
  if (servers === undefined) {
    throw new CandorError("bad-argument", "Neither the options nor the credentials say where the server is.", {
      path: "servers",
    });
  }
  const bus = await connectWith(credentials, servers, options);
  return { bus, credentials, certificate };
}

/**
 * Connects an orchestrator. Before it returns, it compares what `memoryDir` remembers with what the server has.
 *
 * @throws CandorError `log-rolled-back` if the log is older than what is remembered; `bad-file` for a memory that can't be
 *   read; what `readCredentials` and `connectBus` throw
 */
export async function connectOrchestrator(options: OrchestratorOptions): Promise<Fleet> {
  const { memoryDir, intentPatienceMs = 2_000, logger = silentLogger } = options;
  const { bus, credentials, certificate } = await connectAs("orchestrator", options);
  const { signer, trust } = credentials;
  try {
    const memory = await Memory.open(memoryDir, trust.operator, certificate.name, logger);
    const client = createLogClient(bus, logger);
    const { operator } = trust;
    return await Fleet.start({ client, memory, signer, certificate, operator, logger, patienceMs: intentPatienceMs });
  } catch (error) {
    await bus.close();
    throw error;
  }
}

/**
 * Connects a prober.
 *
 * @throws CandorError what `readCredentials` and `connectBus` throw
 */
export async function connectProber(options: ConnectOptions): Promise<Prober> {
  const { bus, credentials } = await connectAs("prober", options);
  try {
    return new Prober(createProbeClient(bus, options.logger), credentials.signer, credentials.name);
  } catch (error) {
    await bus.close();
    throw error;
  }
}
