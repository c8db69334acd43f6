import type { AdmittedOf, EffectPhase } from "@candor/contract";

export interface TrackedEffect {
  /** Author's number of the `dispatched` event. */
  readonly dispatch: number;
  readonly key: string;
  readonly intent: string;
  readonly target: string;
  readonly arguments: Uint8Array | undefined;
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

/** The effects of one epoch by their dispatch. */
export class EffectLedger {
  // Made on the first dispatch: most open tasks have none.
  #effects: Map<number, TrackedEffect> | undefined;

  get all(): TrackedEffect[] {
    return this.#effects === undefined ? [] : [...this.#effects.values()];
  }

  get inFlight(): TrackedEffect[] {
    return this.all.filter(isInFlight);
  }

  get size(): number {
    return this.#effects?.size ?? 0;
  }

  /** In flight at the author's number `at`: dispatched by then, and no outcome by then. */
  inFlightAt(at: number): TrackedEffect[] {
    return this.all.filter(({ dispatch, outcomeAt }) => dispatch <= at && (outcomeAt === 0 || outcomeAt > at));
  }

  dispatched(entry: AdmittedOf<"effect">): TrackedEffect {
    const { key, intent, target, arguments: digest } = entry.payload;
    const effect: TrackedEffect = {
      dispatch: entry.event.seq,
      key,
      intent,
      target,
      // A copy: the payload's bytes are a view into the whole message.
      arguments: digest === undefined ? undefined : Uint8Array.from(digest),
      seq: entry.seq,
      phase: "dispatched",
      outcomeAt: 0,
    };
    (this.#effects ??= new Map<number, TrackedEffect>()).set(effect.dispatch, effect);
    return effect;
  }

  /** Joins an outcome to its dispatch; undefined if the log knows no such dispatch. */
  outcome(entry: AdmittedOf<"effect">): TrackedEffect | undefined {
    const effect = this.#effects?.get(entry.payload.dispatch ?? 0);
    if (effect?.key !== entry.payload.key) return undefined;
    effect.phase = entry.payload.phase;
    if (effect.outcomeAt === 0 && !open.has(effect.phase)) effect.outcomeAt = entry.event.seq;
    return effect;
  }
}
