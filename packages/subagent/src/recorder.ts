import { CandorError, type AgentKind, type Logger } from "@candor/contract";
import { Barriers, type Fenced } from "./barriers.js";
import { Chain, type ChainPlace } from "./chain.js";
import {
  redraft,
  type Build,
  type Draft,
  type EventDraft,
  type Moment,
  type Recorded,
  type RecordedAt,
} from "./event-draft.js";
import { Outbox, unconfirmed } from "./outbox.js";
import { within } from "./pause.js";
import type { EventSink, Expectation, LookUp } from "./ports.js";
import type { RecorderSpool } from "./recorder-spool.js";
import type { SpoolContent, SpooledEvent } from "./spool/spool-content.js";

export interface RecorderOptions {
  readonly place: ChainPlace;
  readonly bus: EventSink & LookUp;
  readonly spool: RecorderSpool;
  /** Called for each event in `seq` order, at the moment it gets its place in the chain; first for those of the spool. */
  readonly onEvent: (seq: number, kind: AgentKind, payload: unknown, hash: Uint8Array) => void;
  /**
   * How long the chain may be held up by an event of unsure fate, in ms; 30,000 by default. Then nothing more is
   * recorded in this process, so that no report goes out without what could not be recorded.
   */
  readonly limitMs?: number;
  readonly logger: Logger;
  readonly now?: () => number;
}

const defaultLimitMs = 30_000;

/**
 * Writes one author's chain (D1): puts each event into the spool and then into the log. Callers may be concurrent; the
 * chain is one line.
 */
export class Recorder {
  readonly #options: RecorderOptions;
  readonly #outbox: Outbox;
  readonly #barriers: Barriers;
  readonly #chain: Chain;
  readonly #limitMs: number;
  #turn: Promise<unknown> = Promise.resolve();
  #failure: CandorError | undefined;
  /** An event of the spool that went out behind an expectation and whose fate is unknown. */
  #unresolved: Fenced | undefined;

  constructor(options: RecorderOptions) {
    this.#options = options;
    const { place, bus, spool, onEvent, now, limitMs = defaultLimitMs, logger } = options;
    this.#limitMs = limitMs;
    this.#chain = new Chain({ place, signer: spool.signer, onEvent, ...(now === undefined ? {} : { now }) });
    this.#barriers = new Barriers({
      bus,
      chain: this.#chain,
      spool,
      limitMs,
      onFailure: (error) => {
        this.fail(error);
      },
      logger,
    });
    this.#outbox = new Outbox({
      sink: bus,
      sync: () => spool.sync(),
      flushSoon: () => {
        spool.flushSoon();
      },
      onStored: ({ seq, kind }, sequence) => {
        if (kind === "effect") this.#barriers.noteEffect(sequence);
        this.#markStored(seq, sequence);
      },
      onFailure: (error) => {
        this.fail(error);
      },
      logger,
    });
    this.#replay(spool.content);
  }

  /** The chain as it stands. */
  get moment(): Moment {
    return this.#chain.moment;
  }

  /** Events that the log is not yet known to have. */
  get pending(): number {
    return this.#outbox.pending;
  }

  /** True while it is open whether the log has a dispatch that it seemed to refuse. */
  get isUnsure(): boolean {
    return this.#barriers.owesProof;
  }

  get failure(): CandorError | undefined {
    return this.#failure;
  }

  /**
   * Adds an event. When this resolves it is in the spool, and it will reach the log.
   *
   * @throws CandorError `publish-unconfirmed` if an event of unsure fate held the chain up for too long;
   *   `malformed` or `unknown-type` with the path of a field that does not fit, `too-large`, `folder-not-writable`; the
   *   chain is then as it was
   * @param alongside called right after it was handed over to be sent, for what is to reach the server with it
   */
  record<K extends AgentKind>(kind: K, build: Build<K>, alongside?: () => void): Promise<Recorded> {
    return this.#inTurn(() => this.#append(this.#chain.draft(kind, build), alongside));
  }

  /**
   * Like `record`, for what may be told only while `isOpen` says so when its turn comes.
   * @returns undefined if it was left
   */
  recordWhile<K extends AgentKind>(kind: K, isOpen: () => boolean, build: Build<K>): Promise<Recorded | undefined> {
    return this.#inTurn(async () => (isOpen() ? await this.#append(this.#chain.draft(kind, build)) : undefined));
  }

  /**
   * Adds several events with nothing between them.
   *
   * @param build makes them at the moment when the first gets its number
   * @returns the last
   */
  recordAll(build: (moment: Moment) => readonly EventDraft[]): Promise<Recorded> {
    return this.#inTurn(async () => {
      for (const { kind, payload } of build(this.moment)) await this.#append(this.#chain.draft(kind, payload));
      return { seq: this.moment.last, hash: this.moment.head };
    });
  }

  /**
   * Adds an event that the log takes only while `expect` holds: an `accept`, or a dispatch behind the fence. It goes
   * out alone, after the log has everything before it, and the chain holds it only if the log does.
   *
   * @param admit called in turn, before it goes out; gives the expectation, or throws to leave it
   * @param patienceMs how long to wait for the events before it, and then to try while it is certain that it is not stored
   * @param alongside called right before it goes out, for what is to reach the server with it
   * @returns undefined if the expectation did not hold
   * @throws CandorError `publish-unconfirmed` if it is not known in time whether the log has it
   */
  recordBehind<K extends "accept" | "effect">(
    kind: K,
    build: Build<K>,
    admit: () => Expectation | Promise<Expectation>,
    patienceMs: number,
    alongside?: () => void,
  ): Promise<RecordedAt | undefined> {
    return this.#inTurn(async () => {
      await this.#outbox.drained(patienceMs);
      const expect = await admit();
      return await this.#barriers.record({ ...this.#chain.draft(kind, build), expect }, patienceMs, alongside);
    });
  }

  /**
   * Finds out what became of the event that an earlier process was publishing behind an expectation when it ended.
   * @returns its payload, and whether the log has it; undefined if there is none
   */
  resolveLeftover(): Promise<
    { readonly payload: unknown; readonly kind: AgentKind; readonly stored: RecordedAt | undefined } | undefined
  > {
    return this.#inTurn(async () => {
      const draft = this.#unresolved;
      if (draft === undefined) return undefined;
      this.#unresolved = undefined;
      return {
        payload: draft.payload,
        kind: draft.kind,
        stored: await this.#barriers.resolve(draft, { ambiguous: true, patienceMs: 0 }),
      };
    });
  }

  /** Waits until the log has the event of that number, or nothing is sent any more. It need not be in order. */
  stored(seq: number): Promise<void> {
    return this.#outbox.stored(seq);
  }

  /**
   * Sends events of the spool again, unchanged and in order: those of an earlier process that no answer came for, and
   * those that a log has lost since.
   */
  resend(events: readonly SpooledEvent[]): void {
    for (const { seq, kind, frame } of events) this.#send({ seq, kind, frame });
  }

  /** Takes note of the last event on the effects' subject in a log that was rolled back. */
  rewind(lastEffect: number): void {
    this.#barriers.rewind(lastEffect);
  }

  /**
   * Waits until the log has everything recorded so far.
   * @param timeoutMs how long at most, the wait for the turn included
   * @throws CandorError `publish-unconfirmed`; what is unconfirmed stays in the spool
   */
  async flush(timeoutMs: number): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    const flushing = this.#inTurn(() => this.#outbox.drained(Math.max(0, deadline - performance.now())));
    if ((await within(flushing, timeoutMs)) === undefined) throw unconfirmed(this.pending, timeoutMs);
  }

  /** Refuses everything from now on. */
  fail(error: CandorError): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    this.#options.logger.error({ code: error.code }, error.message);
  }

  /** Sends nothing more; what is pending stays in the spool. */
  close(): void {
    this.fail(new CandorError("task-over", "This task is closed in this process: nothing more is recorded."));
    this.#outbox.close();
    this.#barriers.close();
  }

  #inTurn<T>(run: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(() => {
      if (this.#failure !== undefined) throw this.#failure;
      return run();
    });
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #append(draft: Draft, alongside?: () => void): Promise<Recorded> {
    if (this.#barriers.owesProof) {
      await this.#drainedForProof();
      const recorded = await this.#barriers.recordWithProof(draft);
      alongside?.();
      return recorded;
    }
    this.#options.spool.event(draft.seq, draft.kind, draft.frame);
    this.#chain.commit(draft);
    this.#send(draft);
    alongside?.();
    return { seq: draft.seq, hash: draft.hash };
  }

  /** What can't be recorded must not be missing from a report either, so this failure is for good. */
  async #drainedForProof(): Promise<void> {
    try {
      await this.#outbox.drained(this.#limitMs);
    } catch (error) {
      this.fail(error as CandorError);
      throw error;
    }
  }

  #send({ seq, kind, frame }: Pick<SpooledEvent, "seq" | "kind" | "frame">): void {
    this.#outbox.push({ seq, kind, subject: this.#chain.published(kind), frame });
  }

  #markStored(seq: number, sequence: number): void {
    // Without the mark a later process sends the event once more, which is harmless.
    this.#options.spool.note({ type: "stored", seq, sequence });
  }

  /** What the spool holds gets its place in the chain. Nothing is sent: `resend()` does that. */
  #replay(content: SpoolContent): void {
    for (const event of content.events) {
      const draft = redraft(event, this.moment.head);
      const { expect, sequence } = event;
      if (expect !== undefined && sequence === undefined) {
        this.#unresolved = { ...draft, expect };
        return;
      }
      this.#chain.commit(draft);
      if (draft.kind === "effect" && sequence !== undefined) this.#barriers.noteEffect(sequence);
    }
  }
}
