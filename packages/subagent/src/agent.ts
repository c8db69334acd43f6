import { homedir } from "node:os";
import { join } from "node:path";
import { connectBus, Publisher, type Bus } from "@candor/bus";
import { CandorError, quarantineSubject, silentLogger, type Logger, type QuarantineBody } from "@candor/contract";
import { GuardRecords } from "@candor/ledger";
import { parseCredentials, readCredentials, type Credentials } from "@candor/ledger/files";
import { BusPort } from "./bus-port.js";
import { defaultLimits, type TaskLimits } from "./task-limits.js";
import { openTask, type AcceptOptions } from "./task-opening.js";
import { within } from "./pause.js";
import type { SubagentTask } from "./task.js";

export interface SubagentOptions {
  /** Addresses of the server; those in the credentials by default. */
  readonly servers?: string | readonly string[];
  /** A credentials folder, as `candor auth add agent` made it, the name of an environment variable that holds one, or what was read. */
  readonly credentials: string | { readonly env: string } | Credentials;
  /** Where tasks are spooled; `spool` in the credentials folder by default, else a folder of the user's. */
  readonly spoolDir?: string;
  readonly limits?: Partial<TaskLimits>;
  /** Total wait for a first connection, in ms; 3,000 by default. Later it reconnects for ever. */
  readonly connectTimeoutMs?: number;
  readonly logger?: Logger;
}

/** How long the connection may take to end in order, in ms. */
const partingMs = 2_000;

/** Says that a guard refused an event of this agent. With this SDK that is a sign of a defect or of an impostor. */
export type QuarantineNotice = QuarantineBody;

/** A connected agent. */
export class Subagent {
  readonly #credentials: Credentials;
  readonly #bus: Bus;
  readonly #publisher: Publisher;
  readonly #port: BusPort;
  readonly #records: GuardRecords;
  readonly #spoolDir: string;
  readonly #limits: TaskLimits;
  readonly #logger: Logger;
  readonly #tasks = new Set<SubagentTask>();
  readonly #quarantined = new Set<(notice: QuarantineNotice) => void>();

  constructor(parts: {
    readonly credentials: Credentials;
    readonly bus: Bus;
    readonly spoolDir: string;
    readonly limits: TaskLimits;
    readonly logger: Logger;
  }) {
    const { credentials, bus, logger } = parts;
    this.#credentials = credentials;
    this.#bus = bus;
    this.#logger = logger;
    this.#spoolDir = parts.spoolDir;
    this.#limits = parts.limits;
    this.#publisher = new Publisher(bus, logger);
    this.#port = new BusPort(bus, this.#publisher);
    this.#records = new GuardRecords(credentials.trust.operator);
    this.#port.subscribe(noticesOf(credentials.name), ({ subject, data }) => {
      this.#notice(subject, data);
    });
  }

  /** Name of the deployment identity. */
  get name(): string {
    return this.#credentials.name;
  }

  /**
   * Accepts a delegated task, or takes it up again after a restart with its spool intact.
   *
   * @param token what `delegate()` returned; a secret
   * @throws CandorError `malformed` or `no-delegation` for a token that is none or somebody else's; `untrusted-key`,
   *   `bad-signature`, `intent-rejected` for a delegation that does not hold; `already-accepted`, `spool-lost` where only
   *   a new delegation helps; `spool-locked` while another process works on it; `fenced` or `task-over` for a task that
   *   is over; `log-rolled-back`, `log-altered`; `folder-not-writable`, `key-exposed`; `publish-unconfirmed`,
   *   `server-unreachable`
   */
  async accept(token: string, options: AcceptOptions = {}): Promise<SubagentTask> {
    const { name, signer, certificate, trust } = this.#credentials;
    if (certificate === undefined) {
      throw new CandorError("not-found", `The credentials of ${name} hold no certificate: have them made anew.`);
    }
    const identity = { name, signer, certificate, operator: trust.operator };
    const context = { identity, bus: this.#port, spoolDir: this.#spoolDir, limits: this.#limits, logger: this.#logger };
    const task = await openTask(context, token, options);
    this.#tasks.add(task);
    void task.closed.then(() => this.#tasks.delete(task));
    return task;
  }

  /**
   * Listens for notices that a guard refused an event of this agent. They are logged as warnings anyway.
   * @returns ends it
   */
  onQuarantine(listener: (notice: QuarantineNotice) => void): () => void {
    this.#quarantined.add(listener);
    return () => this.#quarantined.delete(listener);
  }

  /**
   * Closes every task, with what they have still to send, and disconnects.
   * @throws CandorError `publish-unconfirmed` if the log did not confirm everything; it lies in the spool
   */
  async close(): Promise<void> {
    const closed = await Promise.allSettled([...this.#tasks].map((task) => task.close()));
    this.#port.close();
    this.#publisher.close();
    // A server that is away does not answer the client's last question.
    if ((await within(this.#bus.close(), partingMs)) === undefined) await this.#bus.nc.close();
    const failed = closed.find((result) => result.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  }

  #notice(recordSubject: string, data: Uint8Array): void {
    let notice: QuarantineNotice;
    try {
      notice = this.#records.quarantine(recordSubject, data);
    } catch (error) {
      this.#logger.warn({ error }, "a quarantine notice can't be trusted");
      return;
    }
    const { code, seq, subject, path, sentence } = notice;
    this.#logger.warn({ code, seq, subject, path }, `a guard refused an event of this agent: ${sentence}`);
    for (const listener of this.#quarantined) listener(notice);
  }
}

/** All notices for one agent, whatever lane and message. */
function noticesOf(actor: string): string {
  return quarantineSubject({ lane: 0, actor, logSeq: 0 }).replace(/\.0\./, ".*.").replace(/\.0$/, ".*");
}

function spoolDirOf({ credentials, spoolDir }: SubagentOptions): string {
  if (spoolDir !== undefined) return spoolDir;
  if (typeof credentials === "string") return join(credentials, "spool");
  return join(process.env["XDG_STATE_HOME"] ?? join(homedir(), ".local", "state"), "candor", "spool");
}

function readAny(source: SubagentOptions["credentials"]): Credentials {
  if (typeof source === "string") return readCredentials(source);
  return "env" in source ? parseEnvironment(source.env) : source;
}

function readAgent(source: SubagentOptions["credentials"]): Credentials {
  const credentials = readAny(source);
  if (credentials.role === "agent") return credentials;
  throw new CandorError(
    "untrusted-key",
    `These are the credentials of ${credentials.role} ${credentials.name}, and an agent's are needed: make some with "candor auth add agent NAME".`,
  );
}

function parseEnvironment(name: string): Credentials {
  const text = process.env[name];
  if (text !== undefined && text !== "") return parseCredentials(text, name);
  throw new CandorError(
    "not-found",
    `The environment variable ${name} is not set: put an agent's credentials into it.`,
    {
      path: name,
    },
  );
}

/**
 * Connects an agent.
 *
 * @throws CandorError `not-found`, `key-exposed`, `bad-file`, `bad-key`, `untrusted-key` for the credentials;
 *   `server-unreachable`, `permission-denied`, `server-too-old`, `no-jetstream`, `not-provisioned` for the server
 */
export async function connectSubagent(options: SubagentOptions): Promise<Subagent> {
  const { logger = silentLogger } = options;
  const credentials = readAgent(options.credentials);
  const servers = options.servers ?? credentials.servers;
  if (servers === undefined) {
    throw new CandorError("bad-argument", "Neither the options nor the credentials name a server.", {
      path: "servers",
    });
  }
  const bus = await connectBus({
    servers,
    identity: { role: "agent", name: credentials.name },
    connectionSeed: credentials.connectionSeed,
    inboxPrefix: credentials.inboxPrefix,
    apiPrefix: credentials.apiPrefix,
    operator: credentials.trust.operator,
    logger,
    ...(options.connectTimeoutMs === undefined ? {} : { connectTimeoutMs: options.connectTimeoutMs }),
  });
  const limits = { ...defaultLimits, ...options.limits };
  return new Subagent({ credentials, bus, spoolDir: spoolDirOf(options), limits, logger });
}
