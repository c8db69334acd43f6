import { effectPhases, type AdmittedOf, type EffectPhase } from "@candor/contract";
import { hashText, none, type Shared } from "./kept.js";

export interface TrackedEffect {
  /** Author's number of the `dispatched` event. */
  readonly dispatch: number;
  readonly key: string;
  readonly intent: string;
  readonly target: string;
  /** First half of the digest of the arguments, as `hashText`. */
  readonly arguments: string | undefined;
  /** Log sequence of the dispatch. */
  readonly seq: number;
  phase: EffectPhase;
  /** Author's number of the first outcome; 0 while there is none. */
  outcomeAt: number;
}

const open: ReadonlySet<EffectPhase> = new Set(["dispatched", "in-doubt"]);

export function isInFlight(effect: TrackedEffect): boolean {
  return open.has(effect.phase);
}

/** The vocabulary's own text, not the message's copy of it. */
function phaseOf(phase: EffectPhase): EffectPhase {
  return effectPhases.find((known) => known === phase) ?? phase;
}

/** The effects of one epoch by their dispatch, which only grows within an epoch. */
export class EffectLedger {
  // Made on the first dispatch: most open tasks have none.
  #effects: TrackedEffect[] | undefined;

  get all(): readonly TrackedEffect[] {
    return this.#effects ?? none;
  }

  get inFlight(): TrackedEffect[] {
    return this.all.filter(isInFlight);
  }

  get size(): number {
    return this.#effects?.length ?? 0;
  }

  /** In flight at the author's number `at`: dispatched by then, and no outcome by then. */
  inFlightAt(at: number): TrackedEffect[] {
    return this.all.filter(({ dispatch, outcomeAt }) => dispatch <= at && (outcomeAt === 0 || outcomeAt > at));
  }

  dispatched(entry: AdmittedOf<"effect">, shared: Shared): TrackedEffect {
    const { key, intent, target, arguments: digest } = entry.payload;
    const effect: TrackedEffect = {
      dispatch: entry.event.seq,
      key,
      intent: shared.text(intent),
      target: shared.text(target),
      arguments: digest === undefined ? undefined : hashText(digest.subarray(0, 16)),
      seq: entry.seq,
      phase: "dispatched",
      outcomeAt: 0,
    };
    // Not pushed onto an empty list, which would make room for seventeen.
    if (this.#effects === undefined) this.#effects = [effect];
    else this.#effects.push(effect);
    return effect;
  }

  /** Joins an outcome to its dispatch; undefined if the log knows no such dispatch. */
  outcome(entry: AdmittedOf<"effect">): TrackedEffect | undefined {
    const effect = this.#find(entry.payload.dispatch ?? 0);
    if (effect?.key !== entry.payload.key) return undefined;
    effect.phase = phaseOf(entry.payload.phase);
    if (effect.outcomeAt === 0 && !open.has(effect.phase)) effect.outcomeAt = entry.event.seq;
    return effect;
  }

  /** From the end: an outcome follows its dispatch closely. */
  #find(dispatch: number): TrackedEffect | undefined {
    return this.#effects?.findLast((effect) => effect.dispatch === dispatch);
  }
}
