import { CandorError, equalBytes, type Logger } from "@candor/contract";
import { pause } from "./pause.js";
import type { EventSink, Expectation, LookUp, Stored } from "./ports.js";

export interface Outgoing {
  /** Subject it is published on. */
  readonly published: string;
  /** Subject it is stored under. */
  readonly stored: string;
  readonly kind: string;
  readonly frame: Uint8Array;
  readonly expect: Expectation;
  /** An earlier publish of these bytes may have been stored. */
  readonly ambiguous: boolean;
  /** How long it may be tried while it is certain that it is not stored, in ms. */
  readonly patienceMs: number;
}

export type BarrierOutcome =
  | { readonly outcome: "stored"; readonly sequence: number }
  | { readonly outcome: "lost" }
  | { readonly outcome: "refused"; readonly error: CandorError };

const firstRetryMs = 20;
const longestRetryMs = 1_000;
const lookUps = 3;
const lookUpPauseMs = 50;

/**
 * Publishes what the log may take only while an expectation holds, until it is known whether it did. An answer that
 * never came is settled by publishing the same bytes again: a second copy is harmless, and once the expectation is
 * broken it stays so, since intents are only ever added. Then just the past is open: was the first copy stored before?
 * A look-up that finds it says yes. One that does not may have asked a replica that lags, so the next event goes out
 * with the expectation that the effects' subject has not moved, which the leader itself checks.
 */
export class BarrierPublisher {
  readonly #bus: EventSink & LookUp;
  readonly #limitMs: number;
  readonly #logger: Logger;
  readonly #closing = new AbortController();
  #lastEffect = 0;
  #unsure: Outgoing | undefined;

  /** @param limitMs how long it may take to find out what became of an event, in ms */
  constructor(bus: EventSink & LookUp, limitMs: number, logger: Logger) {
    this.#bus = bus;
    this.#limitMs = limitMs;
    this.#logger = logger;
  }

  /** Takes note of a stored event on the effects' subject. */
  noteEffect(sequence: number): void {
    this.#lastEffect = Math.max(this.#lastEffect, sequence);
  }

  /** Takes note of what is last on the effects' subject in a log that was rolled back. */
  rewind(sequence: number): void {
    this.#lastEffect = sequence;
  }

  /** True if the next event must go out by `prove()`. */
  get owesProof(): boolean {
    return this.#unsure !== undefined;
  }

  /** The expectation that holds only if the unsure dispatch is not in the log. */
  proof(): Expectation {
    return { subject: this.#unsure?.stored ?? "", sequence: this.#lastEffect };
  }

  /** Publishes until the outcome is certain. @throws CandorError `publish-unconfirmed` if it is not in time, or closed before. */
  async publish(outgoing: Outgoing): Promise<BarrierOutcome> {
    let { ambiguous } = outgoing;
    const deadline = performance.now() + outgoing.patienceMs;
    const limit = performance.now() + this.#limitMs;
    for (let delay = firstRetryMs; ; delay = Math.min(delay * 2, longestRetryMs)) {
      const answer = await this.#bus.publish(outgoing.published, outgoing.frame, outgoing.expect);
      if (answer.outcome === "stored") {
        if (outgoing.kind === "effect") this.noteEffect(answer.sequence);
        return answer;
      }
      if (answer.outcome === "later" || answer.outcome === "unknown") {
        ambiguous ||= answer.outcome === "unknown";
        if (!ambiguous && performance.now() > deadline) return { outcome: "refused", error: answer.error };
        this.#logger.debug(
          { kind: outgoing.kind, delay },
          "not confirmed; published again behind the same expectation",
        );
        await this.#wait(delay, limit);
        continue;
      }
      ambiguous ||= answer.outcome === "lost" && !answer.certain;
      const found = ambiguous ? await this.#find(outgoing, limit) : undefined;
      if (found !== undefined) return { outcome: "stored", sequence: found.sequence };
      if (ambiguous && outgoing.kind === "effect") this.#unsure = outgoing;
      return answer;
    }
  }

  /**
   * Publishes an event that the log takes only if the unsure dispatch is not in it.
   * @returns its sequence, or undefined if the dispatch is in the log
   * @throws CandorError `publish-unconfirmed` if that is not known in time, and what the server refuses for good
   */
  async prove(event: Pick<Outgoing, "published" | "frame">): Promise<number | undefined> {
    const unsure = this.#unsure;
    const limit = performance.now() + this.#limitMs;
    for (let delay = firstRetryMs; ; delay = Math.min(delay * 2, longestRetryMs)) {
      const answer = await this.#bus.publish(event.published, event.frame, this.proof());
      if (answer.outcome === "stored") {
        this.#unsure = undefined;
        return answer.sequence;
      }
      if (answer.outcome === "refused") throw answer.error;
      if (answer.outcome === "lost" && unsure !== undefined) {
        const last = await this.#last(unsure.stored, limit);
        if (last !== undefined && equalBytes(last.data, event.frame)) {
          this.#unsure = undefined;
          return last.sequence;
        }
        if (last !== undefined && equalBytes(last.data, unsure.frame)) return undefined;
        // A second copy of an earlier event is behind the last answer.
        if (last !== undefined) this.noteEffect(last.sequence);
      }
      await this.#wait(delay, limit);
    }
  }

  close(): void {
    this.#closing.abort();
  }

  async #find({ stored, frame }: Outgoing, limit: number): Promise<Stored | undefined> {
    for (let i = 0; i < lookUps; i += 1) {
      const last = await this.#last(stored, limit);
      if (last !== undefined && equalBytes(last.data, frame)) return last;
      await this.#wait(lookUpPauseMs, limit);
    }
    return undefined;
  }

  /** Asks until somebody answers, or the limit is over. */
  async #last(subject: string, limit: number): Promise<Stored | undefined> {
    for (let delay = firstRetryMs; ; delay = Math.min(delay * 2, longestRetryMs)) {
      try {
        return await this.#bus.last("log", subject);
      } catch (error) {
        this.#logger.debug({ subject, error }, "look-up not answered; it is made again");
      }
      await this.#wait(delay, limit);
    }
  }

  /** @param limit when the waiting ends, on the clock of `performance.now()` */
  async #wait(ms: number, limit: number): Promise<void> {
    if (performance.now() + ms > limit) {
      throw new CandorError(
        "publish-unconfirmed",
        `The log did not say within ${this.#limitMs} ms whether it has an event, and nothing can follow before that is known. Accept the task again with the same spool: it then finds out.`,
      );
    }
    try {
      await pause(ms, this.#closing.signal);
    } catch {
      throw new CandorError(
        "publish-unconfirmed",
        "The task was closed before the log answered. Accept it again with the same spool: it then finds out.",
      );
    }
  }
}
