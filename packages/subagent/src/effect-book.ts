import { encodeCanonical, equalBytes, type EffectPhase, type Payload, type Report } from "@candor/contract";

export interface BookedEffect {
  readonly dispatch: number;
  readonly intent: string;
  readonly key: string;
  readonly target: string;
  readonly arguments: Uint8Array | undefined;
  readonly phase: EffectPhase;
  readonly identifiers: Readonly<Record<string, string>>;
}

type Effect = Payload<"effect">;

/** May still have happened, or may yet. */
const openPhases: ReadonlySet<EffectPhase> = new Set(["dispatched", "in-doubt"]);

/** Committed effects that an error event lists, in number and in bytes. */
const mostListed = 1_000;
const listingBytes = 64 * 1024;

/** The effects of this epoch as its own chain tells them: what a report declares and an in-flight manifest lists. */
export class EffectBook {
  readonly #byDispatch = new Map<number, BookedEffect>();

  /** Folds an effect event at its place in the chain. */
  observe(seq: number, effect: Effect): void {
    const { intent, key, target, phase, identifiers = {}, dispatch } = effect;
    if (phase === "dispatched") {
      this.#byDispatch.set(seq, {
        dispatch: seq,
        intent,
        key,
        target,
        arguments: effect.arguments,
        phase,
        identifiers,
      });
      return;
    }
    const before = this.#byDispatch.get(dispatch ?? 0);
    if (before !== undefined) this.#byDispatch.set(before.dispatch, { ...before, phase, identifiers });
  }

  /** True if no effect ever ran: nothing was dispatched, or all of it was called off. */
  get isUntouched(): boolean {
    return [...this.#byDispatch.values()].every(({ phase }) => phase === "not-run");
  }

  /** Dispatched and without an outcome that says what happened. */
  get inFlight(): BookedEffect[] {
    return [...this.#byDispatch.values()].filter(({ phase }) => openPhases.has(phase));
  }

  /** Dispatched, and not even an outcome in doubt. */
  get unanswered(): BookedEffect[] {
    return this.inFlight.filter(({ phase }) => phase === "dispatched");
  }

  get declared(): Report["effects"] {
    return [...this.#byDispatch.values()].map(({ dispatch, key, phase }) => ({ dispatch, key, phase }));
  }

  /** The committed effects, the last ones if they are too many for one event. */
  get listing(): Payload<"error">["effects"] {
    const { committed } = this;
    let from = committed.length;
    for (let bytes = 0; from > 0 && committed.length - from < mostListed; from -= 1) {
      bytes += encodeCanonical(committed[from - 1]).length;
      if (bytes > listingBytes) break;
    }
    return committed.slice(from);
  }

  get committed(): Payload<"error">["effects"] {
    return [...this.#byDispatch.values()]
      .filter(({ phase }) => phase === "committed")
      .map(({ intent, key, identifiers }) => ({ intent, key, identifiers }));
  }

  /** What the last dispatch under a key came to. */
  lastOf(key: string): BookedEffect | undefined {
    let last: BookedEffect | undefined;
    for (const effect of this.#byDispatch.values()) if (effect.key === key) last = effect;
    return last;
  }
}

/** True if both say what they were called with, and say different things: one key has one meaning (F7). */
export function differs(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a !== undefined && b !== undefined && !equalBytes(a, b);
}
