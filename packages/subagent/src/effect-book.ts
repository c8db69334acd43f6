import {
  CandorError,
  encodeCanonical,
  equalBytes,
  type EffectPhase,
  type Payload,
  type Report,
} from "@candor/contract";

export interface BookedEffect {
  readonly dispatch: number;
  readonly intent: string;
  readonly key: string;
  readonly target: string;
  readonly arguments: Uint8Array | undefined;
  readonly phase: EffectPhase;
  readonly identifiers: Readonly<Record<string, string>>;
  /** Digest of the member of a key family. */
  readonly member: Uint8Array | undefined;
}

type Effect = Payload<"effect">;

/** May still have happened, or may yet. */
const openPhases: ReadonlySet<EffectPhase> = new Set(["dispatched", "in-doubt"]);

/** Committed effects that an error event lists, in number and in bytes. */
const mostListed = 1_000;
const listingBytes = 64 * 1024;

/** Dispatches of one epoch that a report can own up to. */
const mostDispatches = 10_000;

/** Effects in flight at once that an acknowledgement can list, in number and in bytes. */
const mostInFlight = 1_000;
const inFlightBytes = 200 * 1024;

type InFlight = Pick<BookedEffect, "dispatch" | "intent" | "key" | "target">;

/** An effect as an in-flight manifest lists it. */
function listed({ dispatch, intent, key, target }: InFlight): InFlight {
  return { dispatch, intent, key, target };
}

/** Bytes of an entry of a manifest beside its three texts, at most: names, number, and the texts' lengths. */
const entryBytes = 52;

/** Bytes that an effect takes in a manifest, or some more. */
function weight({ intent, key, target }: Omit<InFlight, "dispatch">): number {
  return entryBytes + Buffer.byteLength(intent) + Buffer.byteLength(key) + Buffer.byteLength(target);
}

/** The effects of this epoch as its own chain tells them: what a report declares and an in-flight manifest lists. */
export class EffectBook {
  readonly #byDispatch = new Map<number, BookedEffect>();
  /** The last dispatch under each key. */
  readonly #lasts = new Map<string, number>();
  /** What was said under a key of the dispatches of earlier epochs. */
  readonly #inherited = new Map<string, EffectPhase>();
  /** Bytes of each effect in flight in a manifest, by dispatch. */
  readonly #open = new Map<number, number>();
  #openBytes = 0;

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
        member: effect.member,
      });
      this.#lasts.set(key, seq);
      this.#weigh(seq);
      return;
    }
    if (effect.epoch !== undefined) this.#inherited.set(key, phase);
    const before = this.#byDispatch.get(dispatch ?? 0);
    if (before === undefined) return;
    this.#byDispatch.set(before.dispatch, { ...before, phase, identifiers });
    this.#weigh(before.dispatch);
  }

  /**
   * Refuses a dispatch that a report or an in-flight manifest would have no room for, before it goes out.
   * @throws CandorError `too-large`
   */
  requireRoom(effect: Pick<BookedEffect, "intent" | "key" | "target">): void {
    if (this.#byDispatch.size >= mostDispatches) {
      throw new CandorError(
        "too-large",
        `A report owns up to ${mostDispatches} effects, and this task has dispatched so many: ${effect.intent} does not run. Report, and have the rest delegated as another task.`,
      );
    }
    const bytes = weight(effect);
    if (this.#open.size < mostInFlight && this.#openBytes + bytes <= inFlightBytes) return;
    throw new CandorError(
      "too-large",
      `${this.#open.size} effects are in flight or in doubt, and an acknowledgement of a recall can't list more: ${effect.intent} does not run. Wait for some to end, or have those in doubt looked up.`,
    );
  }

  /** What an acknowledgement lists (R3). */
  get manifest(): NonNullable<Payload<"acknowledge">["manifest"]> {
    return this.inFlight.map(listed);
  }

  /** True if no effect ever ran: nothing was dispatched, or all of it was called off. */
  get isUntouched(): boolean {
    return [...this.#byDispatch.values()].every(({ phase }) => phase === "not-run");
  }

  #weigh(dispatch: number): void {
    const effect = this.#byDispatch.get(dispatch);
    const isOpen = effect !== undefined && openPhases.has(effect.phase);
    const bytes = isOpen ? weight(effect) : 0;
    this.#openBytes += bytes - (this.#open.get(dispatch) ?? 0);
    if (isOpen) this.#open.set(dispatch, bytes);
    else this.#open.delete(dispatch);
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
    return this.#byDispatch.get(this.#lasts.get(key) ?? 0);
  }

  /** Dispatches under a key of which it is not known what came of them. */
  openUnder(key: string): BookedEffect[] {
    const open: BookedEffect[] = [];
    for (const dispatch of this.#open.keys()) {
      const effect = this.#byDispatch.get(dispatch);
      if (effect?.key === key) open.push(effect);
    }
    return open;
  }

  /** What was said of what earlier epochs dispatched under a key; undefined if nothing was. */
  inheritedPhase(key: string): EffectPhase | undefined {
    return this.#inherited.get(key);
  }

  /** Members of key families that were dispatched, by their keys. */
  get memberKeys(): string[] {
    const keys = new Set<string>();
    for (const { key, member } of this.#byDispatch.values()) if (member !== undefined) keys.add(key);
    return [...keys];
  }
}

/** True if both say what they were called with, and say different things: one key has one meaning (F7). */
export function differs(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a !== undefined && b !== undefined && !equalBytes(a, b);
}
