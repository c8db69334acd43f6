import { setTimeout as pause } from "node:timers/promises";
import {
  CandorError,
  encodeBody,
  encodeFrame,
  encodePayload,
  eventHash,
  laneOf,
  requireId,
  zeroHash,
  type EventBody,
  type Payload,
} from "@candor/contract";
import type { Signer } from "@candor/ledger";
import type { TaskAddress } from "./log-client.js";

/** The last receipt of this prober on a task, as the server has it. */
export interface LastProbe {
  /** Stream sequence in the log. */
  readonly sequence: number;
  readonly epoch: number;
  readonly seq: number;
  readonly hash: Uint8Array;
}

/** What a prober asks of the server. */
export interface ProbeClient {
  readonly lanes: number;
  readonly lastProbe: (at: TaskAddress) => Promise<LastProbe | undefined>;
  /** Stores a receipt if this prober's last one on the task is at `expectedSequence`; undefined if it is not. */
  readonly storeProbe: (at: TaskAddress, frame: Uint8Array, expectedSequence: number) => Promise<number | undefined>;
  readonly close: () => Promise<void>;
}

export interface ProbeOptions extends Payload<"probe"> {
  readonly run: string;
  readonly task: string;
  /** Epoch of the task that was probed. */
  readonly epoch: number;
}

/** A receipt that the log has. */
export interface StoredProbe {
  /** Stream sequence in the log. */
  readonly sequence: number;
  /** Number in this prober's chain on the epoch. */
  readonly seq: number;
  readonly hash: Uint8Array;
}

/** Tries of one receipt, when other processes of the same prober write at the same time. */
const mostTries = 20;
/** Between tries, since a replica that lags behind may have answered the look-up. */
const pauseMs = 50;

/** One process's knowledge of its chain on a task. */
interface Chain {
  /** Stream sequence of the last receipt on the subject. */
  sequence: number;
  readonly heads: Map<number, Pick<LastProbe, "seq" | "hash">>;
}

/** A connected prober: signs what it saw when it looked at a task (D4). */
export class Prober {
  readonly #client: ProbeClient;
  readonly #signer: Signer;
  readonly #name: string;
  readonly #chains = new Map<string, Chain>();
  readonly #turns = new Map<string, Promise<unknown>>();

  /** Made by `connectProber`. */
  constructor(client: ProbeClient, signer: Signer, name: string) {
    this.#client = client;
    this.#signer = signer;
    this.#name = name;
  }

  get name(): string {
    return this.#name;
  }

  /**
   * Signs and stores a receipt. It is confirmed once it is stored.
   *
   * The chain goes on from the last receipt that the log has, and each is stored only if that is still the last one, so that
   * two processes of one prober can't fork it. After an earlier epoch's chain was left for a later one, only the process that
   * wrote it can go on with it. Two processes that say the same of the same thing in the same millisecond sign the same bytes:
   * that is one receipt, and both get it.
   *
   * @throws CandorError `malformed` for a receipt that does not fit, `task-over` for an epoch that was left behind,
   *   `publish-unconfirmed`, `store-full`, `connection-closed`
   */
  async publishProbe(options: ProbeOptions): Promise<StoredProbe> {
    const { run, task, epoch, ...payload } = options;
    const lane = laneOf(requireId(run, "run"), this.#client.lanes);
    const at = { lane, run, task: requireId(task, "task") };
    const bytes = encodePayload("probe", payload);
    return await this.#inTurn(`${run}/${task}`, () => this.#store(at, epoch, bytes));
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#turns.values());
    await this.#client.close();
  }

  async #store(at: TaskAddress, epoch: number, payload: Uint8Array): Promise<StoredProbe> {
    const key = `${at.run}/${at.task}`;
    let chain = this.#chains.get(key) ?? (await this.#lookUp(at));
    for (let i = 0; i < mostTries; i += 1) {
      const { event, hash, frame } = this.#sign(at, epoch, payload, chain);
      let sequence: number | undefined;
      try {
        sequence = await this.#client.storeProbe(at, frame, chain.sequence);
      } catch (error) {
        // It may or may not be stored: the next one asks the log.
        this.#chains.delete(key);
        throw error;
      }
      if (sequence !== undefined) {
        chain.heads.set(epoch, { seq: event.seq, hash });
        chain.sequence = sequence;
        this.#chains.set(key, chain);
        return { sequence, seq: event.seq, hash };
      }
      if (i > 0) await pause(pauseMs);
      chain = await this.#lookUp(at);
    }
    throw new CandorError(
      "publish-unconfirmed",
      `The receipt on task ${at.task} lost ${mostTries} times to other processes of the prober ${this.#name}: run fewer of them.`,
    );
  }

  /** What another process wrote makes this one's older heads useless: only the last receipt is known for sure. */
  async #lookUp(at: TaskAddress): Promise<Chain> {
    const last = await this.#client.lastProbe(at);
    return {
      sequence: last?.sequence ?? 0,
      heads: new Map(last === undefined ? [] : [[last.epoch, { seq: last.seq, hash: last.hash }]]),
    };
  }

  #sign(
    { run, task }: TaskAddress,
    epoch: number,
    payload: Uint8Array,
    { heads }: Chain,
  ): { event: EventBody; hash: Uint8Array; frame: Uint8Array } {
    const head = heads.get(epoch);
    if (head === undefined && Math.max(0, ...heads.keys()) > epoch) {
      throw new CandorError(
        "task-over",
        `The prober ${this.#name} has looked at a later epoch of task ${task}, so its receipts on epoch ${epoch} can't be continued.`,
        { path: "epoch" },
      );
    }
    const event: EventBody = {
      kind: "probe",
      run,
      task,
      epoch,
      role: "probe",
      actor: this.#name,
      seq: (head?.seq ?? 0) + 1,
      prev: head?.hash ?? zeroHash,
      at: Date.now(),
      payload,
    };
    const body = encodeBody(event);
    const hash = eventHash(body);
    return { event, hash, frame: encodeFrame(body, this.#signer.sign(hash)) };
  }

  async #inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#turns.get(key) ?? Promise.resolve();
    const turn = before.then(work, work);
    this.#turns.set(key, turn);
    try {
      return await turn;
    } finally {
      if (this.#turns.get(key) === turn) this.#turns.delete(key);
    }
  }
}
