import type { ErrorType, Finality, Hop, Payload } from "@candor/contract";
import { currentAttempt, givenUp, type PriorAttempt } from "./attempt-scope.js";
import type { Failure } from "./failure.js";
import type { Prose } from "./prose.js";
import type { Recorder } from "./recorder.js";
import type { EffectBook } from "./effect-book.js";
import { fieldsOf, read } from "./thrown-fields.js";

export interface FaultPlace {
  readonly operation: string;
  readonly upstream?: string | undefined;
  readonly covers?: string | undefined;
}

export interface FaultFacts extends FaultPlace {
  readonly type: ErrorType;
  readonly finality: Finality;
  readonly recovered: boolean;
  readonly attempt: number;
  readonly priors: readonly PriorAttempt[];
  /** What the other side asked to be waited before the next try, in ms. */
  readonly retryAfterMs?: number | undefined;
  /** It is the failure of a task that this one delegated. */
  readonly hop?: Hop | undefined;
  readonly description: string;
  readonly unverifiedHint?: string | undefined;
}

export type RetryFacts = Pick<Payload<"retry">, "attempt" | "reason" | "delayMs" | "outcome"> &
  Pick<FaultPlace, "operation" | "upstream">;

/** What the task's own chain says so far. */
export interface ChainFacts {
  readonly book: Pick<EffectBook, "listing">;
  readonly reported: Payload<"report"> | undefined;
}

const mostListed = 1_000;
/** How far causes are followed. */
const deepest = 8;

/**
 * Writes errors and retries, each error once however many layers it passes through on its way up. Once the report has
 * its number none is written any more: the report says what had happened by then, and that calls were left.
 */
export class FaultLog {
  readonly #recorder: Recorder;
  readonly #prose: Prose;
  readonly #state: ChainFacts;
  readonly #known = new WeakMap<object, Promise<number | undefined>>();
  #lastPlain: { readonly value: unknown; readonly seq: Promise<number | undefined> } | undefined;

  /** @param state the effects so far, which an error event lists (F6), and whether the report is made */
  constructor(recorder: Recorder, prose: Prose, state: ChainFacts) {
    this.#recorder = recorder;
    this.#prose = prose;
    this.#state = state;
  }

  /** Number of the event that tells this error or one that it wraps; undefined if none does, or if it came too late. */
  seqOf(error: unknown): Promise<number | undefined> | undefined {
    let next = error;
    for (let depth = 0; depth < deepest; depth += 1) {
      const fields = fieldsOf(next);
      if (fields === undefined) {
        return depth === 0 && this.#lastPlain?.value === next ? this.#lastPlain?.seq : undefined;
      }
      const seq = this.#known.get(fields);
      if (seq !== undefined) return seq;
      next = read(fields, "cause");
    }
    return undefined;
  }

  /** Records an error, or finds the event that told it before. Undefined after the report. */
  error(error: unknown, facts: FaultFacts): Promise<number | undefined> {
    const known = this.seqOf(error);
    if (known !== undefined) return known;
    const seq = this.#record(facts);
    const fields = fieldsOf(error);
    if (fields !== undefined) this.#known.set(fields, seq);
    else this.#lastPlain = { value: error, seq };
    return seq;
  }

  /** Records a failure where it is seen, in the place of the try that it happened in. Undefined after the report. */
  failure(error: unknown, failure: Failure, place: FaultPlace): Promise<number | undefined> {
    const scope = currentAttempt();
    return this.error(error, {
      ...place,
      type: failure.type,
      finality: (scope?.finalityOf ?? givenUp)(failure),
      recovered: false,
      attempt: scope?.attempt ?? 1,
      priors: scope?.priors ?? [],
      retryAfterMs: failure.retryAfterMs,
      description: failure.description,
    });
  }

  async retry({ operation, upstream, attempt, reason, delayMs, outcome }: RetryFacts): Promise<void> {
    if (!this.#isOpen()) return;
    await this.#recorder.recordWhile("retry", this.#isOpen, {
      operation,
      ...(upstream === undefined ? {} : { upstream }),
      attempt,
      reason,
      delayMs,
      outcome,
    });
  }

  readonly #isOpen = (): boolean => this.#state.reported === undefined;

  async #record(facts: FaultFacts): Promise<number | undefined> {
    if (!this.#isOpen()) return undefined;
    const { operation, upstream, covers, type, finality, recovered, attempt, priors, description } = facts;
    const { unverifiedHint, retryAfterMs, hop } = facts;
    const recorded = await this.#recorder.recordWhile("error", this.#isOpen, () => ({
      type,
      finality,
      recovered,
      operation,
      ...(upstream === undefined ? {} : { upstream }),
      attempt,
      attempts: priors.slice(-mostListed),
      ...(covers === undefined ? {} : { covers }),
      effects: this.#state.book.listing,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      ...(hop === undefined ? {} : { hop }),
      description: this.#prose.seal(description),
      ...(unverifiedHint === undefined ? {} : { unverifiedHint: this.#prose.seal(unverifiedHint) }),
    }));
    return recorded?.seq;
  }
}
