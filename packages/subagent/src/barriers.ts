import { CandorError, type Logger } from "@candor/contract";
import { BarrierPublisher, type Outgoing } from "./barrier-publisher.js";
import type { Chain } from "./chain.js";
import type { Draft, Recorded, RecordedAt } from "./event-draft.js";
import type { EventSink, Expectation, LookUp } from "./ports.js";
import type { RecorderSpool } from "./recorder-spool.js";

/** An event that goes out behind an expectation. */
export type Fenced = Draft & { readonly expect: Expectation };

export interface BarriersOptions {
  readonly bus: EventSink & LookUp;
  readonly chain: Chain;
  readonly spool: RecorderSpool;
  readonly limitMs: number;
  /** Called if nobody knows any more how the chain stands. */
  readonly onFailure: (error: CandorError) => void;
  readonly logger: Logger;
}

/** Records events whose number is their own only if the log takes them: acceptances, dispatches, and what proves their absence. */
export class Barriers {
  readonly #options: BarriersOptions;
  readonly #publisher: BarrierPublisher;

  constructor(options: BarriersOptions) {
    this.#options = options;
    this.#publisher = new BarrierPublisher(options.bus, options.limitMs, options.logger);
  }

  /** True while it is open whether the log has a dispatch that it seemed to refuse. */
  get owesProof(): boolean {
    return this.#publisher.owesProof;
  }

  /** Takes note of a stored event on the effects' subject. */
  noteEffect(sequence: number): void {
    this.#publisher.noteEffect(sequence);
  }

  /** Takes note of what is last on the effects' subject in a log that was rolled back. */
  rewind(sequence: number): void {
    this.#publisher.rewind(sequence);
  }

  close(): void {
    this.#publisher.close();
  }

  /**
   * Records a new event behind an expectation; undefined if that did not hold. It is written down before it goes out, and
   * flushed to disk soon: if the machine fails before that, the log has an event that the spool has not, and nobody goes
   * on from there.
   */
  async record(draft: Fenced, patienceMs: number, alongside?: () => void): Promise<RecordedAt | undefined> {
    const { spool } = this.#options;
    spool.event(draft.seq, draft.kind, draft.frame, draft.expect);
    spool.flushSoon();
    alongside?.();
    return await this.resolve(draft, { ambiguous: false, patienceMs });
  }

  /** Publishes an event of the spool until it is known what became of it. */
  async resolve(draft: Fenced, certainty: Pick<Outgoing, "ambiguous" | "patienceMs">): Promise<RecordedAt | undefined> {
    const { spool, chain } = this.#options;
    const outgoing = {
      ...draft,
      published: chain.published(draft.kind),
      stored: chain.stored(draft.kind),
      ...certainty,
    };
    const answer = await this.#orFail(() => this.#publisher.publish(outgoing));
    if (answer.outcome === "stored") {
      // Not flushed: after a failure of the machine a missing mark says nothing.
      await this.#orFail(() => {
        spool.write({ type: "stored", seq: draft.seq, sequence: answer.sequence });
      });
      this.#options.chain.commit(draft);
      return { seq: draft.seq, hash: draft.hash, sequence: answer.sequence };
    }
    // Only an event that proved the absence of a dispatch goes out like this and is of another kind.
    if (draft.kind !== "accept" && draft.kind !== "effect") throw this.#forked();
    await this.#orFail(() => {
      spool.write({ type: "refused", seq: draft.seq });
    });
    if (answer.outcome === "refused") throw answer.error;
    return undefined;
  }

  /** Puts an event on disk whose number is its own only if the log takes it. */
  async #spoolBehind({ seq, kind, frame }: Draft, expect: Expectation): Promise<void> {
    const { spool } = this.#options;
    spool.event(seq, kind, frame, expect);
    await this.#orFail(() => spool.sync());
  }

  /** Runs what the chain can't go on without: if it fails, nobody knows how the chain stands. */
  async #orFail<T>(run: () => Promise<T> | T): Promise<T> {
    try {
      return await run();
    } catch (error) {
      this.#options.onFailure(error as CandorError);
      throw error;
    }
  }

  /** The next event after a dispatch of unsure fate proves, by an expectation of its own, that the log has it not. */
  async recordWithProof(draft: Draft): Promise<Recorded> {
    const { chain, spool } = this.#options;
    await this.#spoolBehind(draft, this.#publisher.proof());
    const published = chain.published(draft.kind);
    const sequence = await this.#orFail(() => this.#publisher.prove({ published, frame: draft.frame }));
    if (sequence === undefined) throw this.#forked();
    await this.#orFail(() => {
      spool.write({ type: "stored", seq: draft.seq, sequence });
    });
    this.#options.chain.commit(draft);
    return { seq: draft.seq, hash: draft.hash };
  }

  #forked(): CandorError {
    const error = new CandorError(
      "spool-lost",
      "The log holds a dispatch that it had seemed to refuse, so the chain can't be continued. Ask the orchestrator to delegate the task again.",
    );
    this.#options.onFailure(error);
    return error;
  }
}
