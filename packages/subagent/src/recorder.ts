import {
  CandorError,
  publishedSubject,
  storedSubject,
  Tally,
  zeroHash,
  type AgentKind,
  type EventKind,
  type Logger,
} from "@candor/contract";
import type { Signer } from "@candor/ledger";
import { BarrierPublisher, type Outgoing } from "./barrier-publisher.js";
import {
  draftEvent,
  redraft,
  type Build,
  type Draft,
  type EventDraft,
  type Moment,
  type Recorded,
  type RecordedAt,
} from "./event-draft.js";
import { Outbox } from "./outbox.js";
import type { EventSink, Expectation, LookUp } from "./ports.js";
import type { SpoolContent } from "./spool/spool-content.js";
import type { SpoolRecord } from "./spool/spool-record.js";

/** What the recorder needs of a spool. */
export interface RecorderSpool {
  readonly signer: Signer;
  readonly content: SpoolContent;
  event(seq: number, kind: EventKind, frame: Uint8Array, expect?: Expectation): void;
  write(record: SpoolRecord): void;
  sync(): Promise<void>;
}

export interface RecorderOptions {
  readonly place: { readonly run: string; readonly task: string; readonly epoch: number; readonly actor: string };
  readonly lane: number;
  readonly bus: EventSink & LookUp;
  readonly spool: RecorderSpool;
  /** Called for each event in `seq` order, at the moment it gets its place in the chain; first for those of the spool. */
  readonly onEvent: (seq: number, kind: AgentKind, payload: unknown) => void;
  readonly logger: Logger;
  readonly now?: () => number;
}

/**
 * Writes one author's chain (D1): numbers events, links each to the one before, puts it into the spool and then into
 * the log. Callers may be concurrent; the chain is one line.
 */
export class Recorder {
  readonly tally = new Tally();
  readonly #options: RecorderOptions;
  readonly #outbox: Outbox;
  readonly #barriers: BarrierPublisher;
  #seq = 0;
  #head: Uint8Array = zeroHash;
  #turn: Promise<unknown> = Promise.resolve();
  #failure: CandorError | undefined;
  /** An event of the spool that went out behind an expectation and whose fate is unknown. */
  #unresolved: (Draft & { readonly expect: Expectation }) | undefined;

  constructor(options: RecorderOptions) {
    this.#options = options;
    const { bus, spool, logger } = options;
    this.#barriers = new BarrierPublisher(bus, logger);
    this.#outbox = new Outbox({
      sink: bus,
      sync: () => spool.sync(),
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

  /** Number of the last event. */
  get last(): number {
    return this.#seq;
  }

  get head(): Uint8Array {
    return this.#head;
  }

  /** Events that the log is not yet known to have. */
  get pending(): number {
    return this.#outbox.pending;
  }

  get failure(): CandorError | undefined {
    return this.#failure;
  }

  /**
   * Adds an event. When this resolves it is in the spool, and it will reach the log.
   *
   * @throws CandorError `malformed` or `unknown-type` with the path of a field that does not fit, `too-large`,
   *   `folder-not-writable`; the chain is then as it was
   */
  record<K extends AgentKind>(kind: K, build: Build<K>): Promise<Recorded> {
    return this.#inTurn(() => this.#append(this.#draft(kind, build)));
  }

  /**
   * Adds several events with nothing between them.
   *
   * @param build makes them at the moment when the first gets its number
   * @returns the last
   */
  recordAll(build: (moment: Moment) => readonly EventDraft[]): Promise<Recorded> {
    return this.#inTurn(async () => {
      for (const { kind, payload } of build(this.#moment())) await this.#append(this.#draft(kind, payload));
      return { seq: this.#seq, hash: this.#head };
    });
  }

  /**
   * Adds an event that the log takes only while `expect` holds: an `accept`, or a dispatch behind the fence. It goes
   * out alone, after the log has everything before it, and the chain holds it only if the log does.
   *
   * @param admit called in turn, right before it goes out; gives the expectation, or throws to leave it
   * @param patienceMs how long to wait for the events before it, and then to try while it is certain that it is not stored
   * @returns undefined if the expectation did not hold
   */
  recordBehind<K extends "accept" | "effect">(
    kind: K,
    build: Build<K>,
    admit: () => Expectation | Promise<Expectation>,
    patienceMs: number,
  ): Promise<RecordedAt | undefined> {
    return this.#inTurn(async () => {
      await this.#outbox.drained(patienceMs);
      const expect = await admit();
      const draft = this.#draft(kind, build);
      await this.#spoolBehind(draft, expect);
      return this.#resolve({ ...draft, expect }, { ambiguous: false, patienceMs });
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
        stored: await this.#resolve(draft, { ambiguous: true, patienceMs: 0 }),
      };
    });
  }

  /**
   * Waits until the log has everything recorded so far.
   * @param timeoutMs how long at most
   * @throws CandorError `publish-unconfirmed`; what is unconfirmed stays in the spool
   */
  flush(timeoutMs: number): Promise<void> {
    return this.#inTurn(() => this.#outbox.drained(timeoutMs));
  }

  /** Runs `read` between two events. */
  atRest<T>(read: (moment: Moment) => T): Promise<T> {
    return this.#inTurn(() => Promise.resolve(read(this.#moment())));
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

  async #append(draft: Draft): Promise<Recorded> {
    if (this.#barriers.owesProof) return await this.#recordWithProof(draft);
    this.#options.spool.event(draft.seq, draft.kind, draft.frame);
    this.#commit(draft);
    this.#send(draft);
    return { seq: draft.seq, hash: draft.hash };
  }

  #moment(): Moment {
    return { last: this.#seq, head: this.#head, tally: this.tally };
  }

  #draft<K extends AgentKind>(kind: K, build: Build<K>): Draft {
    const { place, spool, now = Date.now } = this.#options;
    const moment = this.#moment();
    const payload = typeof build === "function" ? build(moment) : build;
    return draftEvent({ ...place, seq: moment.last + 1, prev: moment.head, at: now() }, kind, payload, spool.signer);
  }

  #commit({ seq, kind, payload, hash }: Draft): void {
    this.#seq = seq;
    this.#head = hash;
    // Receipts cover what comes before them, so they and the report count in no tally.
    if (kind !== "receipt" && kind !== "report") this.tally.add(seq, kind, payload);
    this.#options.onEvent(seq, kind, payload);
  }

  #send({ seq, kind, frame }: Draft): void {
    this.#outbox.push({ seq, kind, subject: this.#published(kind), frame });
  }

  async #resolve(
    draft: Draft & { readonly expect: Expectation },
    certainty: Pick<Outgoing, "ambiguous" | "patienceMs">,
  ): Promise<RecordedAt | undefined> {
    const { spool } = this.#options;
    const outgoing = {
      ...draft,
      published: this.#published(draft.kind),
      stored: this.#stored(draft.kind),
      ...certainty,
    };
    const answer = await this.#barriers.publish(outgoing);
    if (answer.outcome === "stored") {
      this.#orFail(() => {
        spool.write({ type: "stored", seq: draft.seq, sequence: answer.sequence });
      });
      await spool.sync();
      this.#commit(draft);
      return { seq: draft.seq, hash: draft.hash, sequence: answer.sequence };
    }
    // Only an event that proved the absence of a dispatch goes out like this and is of another kind.
    if (draft.kind !== "accept" && draft.kind !== "effect") throw this.#forked();
    this.#orFail(() => {
      spool.write({ type: "refused", seq: draft.seq });
    });
    if (answer.outcome === "refused") throw answer.error;
    return undefined;
  }

  /** Puts an event on disk whose number is its own only if the log takes it. */
  async #spoolBehind({ seq, kind, frame }: Draft, expect: Expectation): Promise<void> {
    const { spool } = this.#options;
    spool.event(seq, kind, frame, expect);
    try {
      await spool.sync();
    } catch (error) {
      this.fail(error as CandorError);
      throw error;
    }
  }

  /** Runs what the spool can't be without: if it fails, the spool no longer says how the chain stands. */
  #orFail(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.fail(error as CandorError);
      throw error;
    }
  }

  /** The next event after a dispatch of unsure fate proves, by an expectation of its own, that the log has it not. */
  async #recordWithProof(draft: Draft): Promise<Recorded> {
    await this.#outbox.drained(Number.MAX_SAFE_INTEGER);
    const expect = this.#barriers.proof();
    await this.#spoolBehind(draft, expect);
    const sequence = await this.#barriers.prove({ published: this.#published(draft.kind), frame: draft.frame });
    if (sequence === undefined) throw this.#forked();
    this.#orFail(() => {
      this.#options.spool.write({ type: "stored", seq: draft.seq, sequence });
    });
    this.#commit(draft);
    return { seq: draft.seq, hash: draft.hash };
  }

  #forked(): CandorError {
    const error = new CandorError(
      "spool-lost",
      "The log holds a dispatch that it had seemed to refuse, so the chain can't be continued. Ask the orchestrator to delegate the task again.",
    );
    this.fail(error);
    return error;
  }

  #markStored(seq: number, sequence: number): void {
    try {
      this.#options.spool.write({ type: "stored", seq, sequence });
    } catch (error) {
      // Without the mark a later process sends the event once more, which is harmless.
      this.#options.logger.warn({ seq, error }, "the spool could not note that an event is stored");
    }
  }

  #published(kind: AgentKind): string {
    const { actor, run, task } = this.#options.place;
    return publishedSubject({ role: "agent", actor, run, task, kind });
  }

  #stored(kind: AgentKind): string {
    const { place, lane } = this.#options;
    const { actor, run, task } = place;
    return storedSubject({ lane, role: "agent", actor, run, task, kind });
  }

  #replay(content: SpoolContent): void {
    for (const event of content.events) {
      const draft = redraft(event, this.#head);
      const { expect, sequence } = event;
      if (expect !== undefined && sequence === undefined) {
        this.#unresolved = { ...draft, expect };
        return;
      }
      this.#commit(draft);
      if (draft.kind === "effect" && sequence !== undefined) this.#barriers.noteEffect(sequence);
      if (sequence === undefined) this.#send(draft);
    }
  }
}
