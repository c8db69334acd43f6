import { CandorError, type EffectPhase, type Payload } from "@candor/contract";
import { readDoubtAnswer, type DoubtAnswer, type DoubtProbe } from "./doubt-probe.js";
import type { EffectBook } from "./effect-book.js";
import { inDoubt, type Doubt, type Planned } from "./effect-plan.js";
import type { Inheritance } from "./inheritance.js";
import type { Recorder } from "./recorder.js";

export interface DoubtsOptions {
  readonly recorder: Recorder;
  readonly book: EffectBook;
  readonly inheritance: Inheritance;
  /** Aborted when effects under way must end. */
  readonly signal: () => AbortSignal;
}

type Told = Pick<Payload<"effect">, "identifiers">;

/** What is done where nobody knows whether an effect happened: what its intent declares, and never a guess (F7). */
export class Doubts {
  readonly #options: DoubtsOptions;

  constructor(options: DoubtsOptions) {
    this.#options = options;
  }

  /**
   * Follows what the intent declares.
   *
   * @returns what a look-up found done; undefined if the effect may run, anew or once more
   * @throws CandorError `intent-key-in-doubt`, and what the look-up throws as its cause
   */
  async resolve(
    plan: Planned,
    doubt: Doubt,
    probe: DoubtProbe | undefined,
  ): Promise<Extract<DoubtAnswer, { outcome: "committed" }> | undefined> {
    if (plan.inDoubt === "reissue") return undefined;
    if (plan.inDoubt !== "probe" || probe === undefined) throw await this.#undecided(plan, doubt);
    const answer = await this.#ask(plan, doubt, probe);
    if (answer.outcome === "inconclusive") throw await this.#undecided(plan, doubt);
    const phase = answer.outcome === "committed" ? "committed" : "not-run";
    await this.tell(plan, phase, answer.outcome === "committed" ? (answer.identifiers ?? {}) : {});
    if (answer.outcome === "committed") return answer;
    this.#options.inheritance.clear(plan.key, undefined);
    return undefined;
  }

  /**
   * Tells of all that is open under the key what came of it: the downstream said so to a repeat or to a look-up, and to it
   * all of them are one.
   */
  async tell(
    plan: Planned,
    phase: "committed" | "not-run",
    identifiers: Readonly<Record<string, string>>,
  ): Promise<void> {
    const { book, inheritance } = this.#options;
    const named = Object.keys(identifiers).length === 0 ? {} : { identifiers: { ...identifiers } };
    for (const { dispatch } of book.openUnder(plan.key)) await this.#record(plan, { phase, dispatch, ...named });
    const inherited = await inheritance.of(plan.key);
    if (inherited?.state !== "in-doubt") return;
    await this.#record(plan, { phase, epoch: inherited.epoch, ...named });
  }

  /**
   * No earlier epoch held the key's claim, and without it none ran the effect: a dispatch that one may have left in the log
   * came to nothing. Told once, and only for an intent whose doubts the guard counts.
   */
  async tellNothing(plan: Planned): Promise<void> {
    const { book, inheritance } = this.#options;
    const { before: epoch } = inheritance;
    if (plan.inDoubt === undefined || epoch === undefined || book.inheritedPhase(plan.key) !== undefined) return;
    await this.#record(plan, { phase: "not-run", epoch });
  }

  async #ask(plan: Planned, doubt: Doubt, probe: DoubtProbe): Promise<DoubtAnswer> {
    let answer: unknown;
    try {
      answer = await probe({ key: plan.key, signal: this.#options.signal() });
    } catch (error) {
      throw await this.#undecided(plan, doubt, error);
    }
    const read = readDoubtAnswer(answer);
    if (read !== undefined) return read;
    const refused = new CandorError(
      "bad-argument",
      "What the probe of an effect answers has an outcome: committed, absent or inconclusive.",
      { path: "probe.outcome" },
    );
    throw await this.#undecided(plan, doubt, refused);
  }

  /** That an earlier epoch's effect stays in doubt is for the guard to know too, once. */
  async #undecided(plan: Planned, { by, epoch }: Doubt, cause?: unknown): Promise<Error> {
    const isDeclared = plan.inDoubt !== undefined && epoch !== undefined;
    if (isDeclared && this.#options.book.inheritedPhase(plan.key) === undefined)
      await this.#record(plan, { phase: "in-doubt", epoch });
    return inDoubt(plan, by, cause);
  }

  async #record(
    { intent, key, target, covers, member }: Planned,
    outcome: Told & { readonly phase: EffectPhase; readonly dispatch?: number; readonly epoch?: number },
  ): Promise<void> {
    await this.#options.recorder.record("effect", {
      intent,
      key,
      target,
      ...outcome,
      ...(covers === undefined ? {} : { covers }),
      ...(member === undefined ? {} : { member }),
    });
  }
}
