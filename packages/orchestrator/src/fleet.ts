import { randomUUID } from "node:crypto";
import {
  CandorError,
  isCandorError,
  decodePayload,
  defaultPolicy,
  hex,
  laneOf,
  policyHash as hashOf,
  readPolicy,
  requireId,
  runTask,
  type Certificate,
  type Isolation,
  type Logger,
  type Payload,
  type Policy,
} from "@candor/contract";
import { createDataKey, GuardRecords, seal, type Signer } from "@candor/ledger";
import { CheckpointWatch, readLastCheckpoint } from "./checkpoints.js";
import { requireRole } from "./delegation.js";
import { IntentWriter } from "./intent-writer.js";
import type { LogClient } from "./log-client.js";
import { compareWithLog } from "./memory-check.js";
import { messageHash, type Memory } from "./memory.js";
import { followRun } from "./run-feed.js";
import { readParentDelegation } from "./parent-delegation.js";
import { RunView } from "./run-view.js";
import { Run } from "./run.js";
import { within } from "./time-limit.js";

export interface OpenRunOptions {
  /** Id of the run, 1–64 of `A–Z a–z 0–9 _ -`; a random one by default. */
  readonly run?: string;
  /** What the run is judged by, as `parsePolicy` reads it from a file; pinned by its hash. */
  readonly policy?: Policy;
  /** Probers whose receipts count, as `candor auth add prober` wrote their certificates. */
  readonly probers?: readonly Certificate[];
  /** Whether the agents run in processes of their own; so by default. */
  readonly isolation?: Isolation;
  /** Prose for people; sealed. */
  readonly title?: string;
}

export interface FleetContext {
  readonly client: LogClient;
  readonly memory: Memory;
  readonly signer: Signer;
  readonly certificate: Certificate;
  /** Public key of the operator, from `trust.json`. */
  readonly operator: string;
  readonly logger: Logger;
  readonly patienceMs: number;
}

/** A connected orchestrator. Replicas of one fleet share its name and key. */
export class Fleet {
  readonly #context: FleetContext;
  readonly #records: GuardRecords;
  readonly #checkpoints: CheckpointWatch;
  readonly #feeds = new Map<AbortController, Promise<void>>();

  private constructor(context: FleetContext) {
    const { client, memory, operator, logger } = context;
    this.#context = context;
    this.#records = new GuardRecords(operator);
    this.#checkpoints = new CheckpointWatch(client, memory, this.#records, logger);
  }

  /**
   * Compares what is remembered with what is there, and only then hands out a fleet.
   *
   * @throws CandorError `log-rolled-back` with lane, sequence, and what was remembered and found in its details
   */
  static async start(context: FleetContext): Promise<Fleet> {
    const { client, memory, operator } = context;
    const records = new GuardRecords(operator);
    const port = {
      lastVerdict: client.lastRecord,
      seen: async (sequence: number) => {
        const there = await client.recordAt(sequence);
        return there && { sequence, subject: there.subject, hash: messageHash(there.subject, there.data) };
      },
      lastCheckpoint: (lane: number) => readLastCheckpoint(client, lane, records),
      lastIntent: async (at: { lane: number; run: string; task: string }) => {
        const found = await client.lastIntent(at);
        return found && { sequence: found.intent.sequence, hash: hex(found.intent.hash) };
      },
    };
    await compareWithLog(memory.recollection, port, memory.path);
    return new Fleet(context);
  }

  get name(): string {
    return this.#context.certificate.name;
  }

  /**
   * Opens a run: mints its data key, and stores the policy, the trusted keys and the fleet's certificate as its first
   * intent.
   *
   * @throws CandorError `intent-lost` if the run exists, `untrusted-key` for a prober of another operator, `malformed` for a
   *   policy that does not hold, with the field's path and all faults in its details, `bad-argument` for an id that can't be one
   */
  async openRun(options: OpenRunOptions = {}): Promise<Run> {
    const { client, certificate, operator } = this.#context;
    const { policy = defaultPolicy, probers = [], isolation = "separate-process", title } = options;
    const id = requireId(options.run ?? randomUUID(), "run");
    for (const prober of probers) requireRole(prober, "probe", operator);
    requirePolicy(policy);
    const dataKey = await client.keepDataKey(id, createDataKey());
    const policyHash = hashOf(policy);
    return await this.#follow(id, async (parts) => {
      const payload = {
        policy,
        policyHash,
        fleet: certificate,
        probers: [...probers],
        operator,
        isolation,
        ...(title === undefined ? {} : { title: seal(title, dataKey) }),
      };
      await parts.writer
        .issue(runTask, "run-open", () => ({ epoch: 1, payload }), false)
        .catch((cause: unknown) => {
          throw isCandorError(cause, "intent-lost") ? runExists(id, cause) : cause;
        });
      return { policyHash, dataKey, isClosed: false, parent: undefined };
    });
  }

  /**
   * Takes up the run of a task whose agent may delegate parts of it as this fleet: for the process of that agent. What it
   * delegates are tasks of the same run, with the task above them as their parent.
   *
   * @param token the delegation token of that task, a secret
   * @throws CandorError `malformed` for a text that is no token, `no-delegation` if it does not name this sub-fleet
   */
  async join(token: string): Promise<Run> {
    const { run, dataKey, policyHash, parent } = readParentDelegation(token, this.#context.certificate);
    return await this.#follow(run, () => Promise.resolve({ policyHash, dataKey, isClosed: false, parent }));
  }

  /**
   * Takes up a run that this fleet opened before, in this process or another.
   *
   * @throws CandorError `not-found` if this fleet has no such run
   */
  async attach(run: string): Promise<Run> {
    const { client } = this.#context;
    const id = requireId(run, "run");
    const lane = laneOf(id, client.lanes);
    const found = await client.lastIntent({ lane, run: id, task: runTask });
    if (found === undefined) {
      throw new CandorError(
        "not-found",
        `The fleet ${this.name} has opened no run ${id}: check the id, or open it first.`,
      );
    }
    const isClosed = found.intent.kind === "run-close";
    const dataKey = isClosed ? undefined : await client.dataKey(id);
    return await this.#follow(id, async ({ view }) => {
      view.stored(runTask, found.intent);
      const { kind } = found.intent;
      const policyHash =
        kind === "run-open" ? decodePayload(kind, found.payload).policyHash : await this.#policyOf(id, view);
      return { policyHash, dataKey, isClosed, parent: undefined };
    });
  }

  /** Writes down what is remembered, and disconnects. */
  async close(): Promise<void> {
    const { client, memory } = this.#context;
    for (const feed of this.#feeds.keys()) feed.abort();
    await Promise.all(this.#feeds.values());
    await this.#checkpoints.stop();
    await memory.flush();
    await client.close();
  }

  /** The policy that the run's verdicts name, where its opening intent is not the last one any more. */
  async #policyOf(run: string, view: RunView): Promise<Uint8Array> {
    await within(this.#context.patienceMs, async (signal) => {
      while (view.policyHash === undefined && !signal.aborted) await view.changed(runTask, signal);
    });
    if (view.policyHash !== undefined) return view.policyHash;
    throw new CandorError("undecided", `No guard has judged run ${run} yet: see that one runs, then attach again.`);
  }

  async #follow(
    id: string,
    begin: (parts: { readonly view: RunView; readonly writer: IntentWriter }) => Promise<{
      readonly policyHash: Uint8Array;
      readonly dataKey: Uint8Array | undefined;
      readonly isClosed: boolean;
      readonly parent: Payload<"delegate">["parent"];
    }>,
  ): Promise<Run> {
    const { client, memory, signer, certificate, operator, logger, patienceMs } = this.#context;
    const lane = laneOf(id, client.lanes);
    const view = new RunView();
    const writer = new IntentWriter({ client, memory, view, signer, fleet: this.name, run: id, lane, patienceMs });
    const base = { client, records: this.#records, memory, logger, view, lane };
    const onRecord = (): void => {
      this.#checkpoints.touch(lane);
    };
    const end = new AbortController();
    const feed = followRun({ ...base, fleet: this.name, run: id, onRecord }, end.signal).finally(() => {
      this.#feeds.delete(end);
    });
    this.#feeds.set(end, feed);
    const release = (): void => {
      end.abort();
    };
    try {
      return new Run({
        ...base,
        id,
        operator,
        fleet: certificate,
        writer,
        release,
        ...(await begin({ view, writer })),
      });
    } catch (error) {
      release();
      throw error;
    }
  }
}

/** A guard would refuse the opening; it is said here first, with all that is wrong. */
function requirePolicy(policy: Policy): void {
  const reading = readPolicy(policy);
  if (reading.ok) return;
  const [first] = reading.faults;
  const more = reading.faults.length > 1 ? `, and ${reading.faults.length - 1} more` : "";
  throw new CandorError("malformed", `The policy does not hold: ${first?.sentence ?? ""}${more}.`, {
    path: `policy.${first?.path ?? ""}`,
    details: { faults: reading.faults },
  });
}

function runExists(run: string, cause: CandorError): CandorError {
  return new CandorError("intent-lost", `The run ${run} exists already: attach to it, or open one under another id.`, {
    details: cause.details,
    cause,
  });
}
