import { effectPhases, type AdmittedOf, type DoubtPolicy, type EffectPhase } from "@candor/contract";
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
  /** What its intent declares for the case that nobody knows whether it happened; not there if it declares nothing. */
  inDoubt?: DoubtPolicy;
}

const open: ReadonlySet<EffectPhase> = new Set(["dispatched", "in-doubt"]);
const happened: ReadonlySet<EffectPhase> = new Set(["committed", "compensated"]);

/** What each phase may turn into. A terminal one is not overwritten: the log would then tell two stories of one effect. */
const transitions = {
  dispatched: ["committed", "failed", "not-run", "in-doubt"],
  "in-doubt": ["committed", "failed", "not-run"],
  committed: ["compensated"],
  failed: [],
  "not-run": [],
  compensated: [],
} as const satisfies Record<EffectPhase, readonly EffectPhase[]>;

function follows(from: EffectPhase, to: EffectPhase): boolean {
  const allowed: readonly EffectPhase[] = transitions[from];
  return from === to || allowed.includes(to);
}

/** The vocabulary's own text, not the message's copy of it. */
function phaseOf(phase: EffectPhase): EffectPhase {
  return effectPhases.find((known) => known === phase) ?? phase;
}

/** Keeps the author's order: under an old epoch a dispatch may come late. */
function insert(effects: TrackedEffect[], effect: TrackedEffect): void {
  let at = effects.length;
  while (at > 0 && (effects[at - 1]?.dispatch ?? 0) > effect.dispatch) at -= 1;
  effects.splice(at, 0, effect);
}

/** From so many effects on, they are looked up instead of searched for: their number is the agent's choice. */
const mostSearched = 16;

/** Many effects of one epoch, and ways to find one. */
class ManyEffects {
  readonly all: TrackedEffect[];
  readonly open = new Map<number, TrackedEffect>();
  anyCommitted = false;
  /** The first effect under each key that names its arguments. */
  readonly #firsts = new Map<string, TrackedEffect>();
  /** The committed effect under each key. */
  readonly #committed = new Map<string, TrackedEffect>();

  constructor(all: TrackedEffect[]) {
    this.all = [];
    for (const effect of all) this.add(effect);
  }

  add(effect: TrackedEffect): void {
    insert(this.all, effect);
    this.follow(effect);
    if (effect.arguments !== undefined && !this.#firsts.has(effect.key)) this.#firsts.set(effect.key, effect);
  }

  /** Takes note of the phase that an effect is in. */
  follow(effect: TrackedEffect): void {
    const { phase, dispatch, key } = effect;
    if (open.has(phase)) this.open.set(dispatch, effect);
    else this.open.delete(dispatch);
    this.anyCommitted ||= happened.has(phase);
    if (phase === "committed") this.#committed.set(key, effect);
    else if (this.#committed.get(key) === effect) this.#committed.delete(key);
  }

  committedUnder(key: string): TrackedEffect | undefined {
    return this.#committed.get(key);
  }

  /** Does its key stand for other arguments already? */
  differs({ key, arguments: digest }: TrackedEffect): boolean {
    const first = this.#firsts.get(key);
    return digest !== undefined && first !== undefined && first.arguments !== digest;
  }
}

/** What is in flight: the first ones, as far as anybody lists them, and how many there are. */
export interface InFlightEffects {
  readonly listed: readonly TrackedEffect[];
  readonly total: number;
}

const mostListed = 1_000;

export interface Dispatched {
  readonly effect: TrackedEffect;
  /** Its key stands for other arguments already (F7). */
  readonly reused: boolean;
  /** An effect dispatched before it under the same key is committed. */
  readonly usedUp: boolean;
}

export interface Outcome {
  readonly effect: TrackedEffect;
  /** An outcome of it stands in the log already, and says something else. */
  readonly contradicts: boolean;
  /** Another effect under its key is committed, and now this one is (F7). */
  readonly again: boolean;
}

/** The effects of one epoch by their dispatch, which only grows within an epoch. */
export class EffectLedger {
  // Made on the first dispatch: most open tasks have none.
  #effects: TrackedEffect[] | ManyEffects | undefined;

  get all(): readonly TrackedEffect[] {
    const held = this.#effects;
    return held instanceof ManyEffects ? held.all : (held ?? none);
  }

  get inFlight(): InFlightEffects {
    const held = this.#effects;
    if (held instanceof ManyEffects) {
      const listed: TrackedEffect[] = [];
      for (const effect of held.open.values()) {
        if (listed.length === mostListed) break;
        listed.push(effect);
      }
      return { listed, total: held.open.size };
    }
    const listed = this.all.filter(({ phase }) => open.has(phase));
    return { listed, total: listed.length };
  }

  get size(): number {
    return this.all.length;
  }

  get anyCommitted(): boolean {
    const held = this.#effects;
    return held instanceof ManyEffects ? held.anyCommitted : this.all.some(({ phase }) => happened.has(phase));
  }

  /** A committed effect under a key. */
  committedUnder(key: string): TrackedEffect | undefined {
    const held = this.#effects;
    if (held instanceof ManyEffects) return held.committedUnder(key);
    return this.all.find((effect) => effect.key === key && effect.phase === "committed");
  }

  /** Effects under a key of which it is not known what came of them. */
  openUnder(key: string): TrackedEffect[] {
    const held = this.#effects;
    const candidates = held instanceof ManyEffects ? [...held.open.values()] : this.all;
    return candidates.filter((effect) => effect.key === key && open.has(effect.phase));
  }

  /** What is open under a key came to this, as a later epoch found out. Returns whether anything was open. */
  settle(key: string, phase: "committed" | "not-run"): boolean {
    const found = this.openUnder(key);
    for (const effect of found) {
      effect.phase = phase;
      if (this.#effects instanceof ManyEffects) this.#effects.follow(effect);
    }
    return found.length > 0;
  }

  /** In flight at the author's number `at`: dispatched by then, and no outcome by then. */
  inFlightAt(at: number): TrackedEffect[] {
    return this.all.filter(({ dispatch, outcomeAt }) => dispatch <= at && (outcomeAt === 0 || outcomeAt > at));
  }

  /** Whether a dispatch of that author's number is taken in. */
  knows(dispatch: number): boolean {
    return this.#find(dispatch) !== undefined;
  }

  /** Takes a dispatch in. */
  dispatched(entry: AdmittedOf<"effect">, shared: Shared): Dispatched {
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
    const committed = this.#otherCommitted(effect);
    const reused = this.#isReuse(effect);
    this.#add(effect);
    // Under an old epoch one may come before those that were dispatched before it.
    return { effect, reused, usedUp: committed !== undefined && committed.dispatch < effect.dispatch };
  }

  /** Joins an outcome to its dispatch; undefined if the log knows no such dispatch. The first terminal one stands. */
  outcome(entry: AdmittedOf<"effect">): Outcome | undefined {
    const effect = this.#find(entry.payload.dispatch ?? 0);
    if (effect?.key !== entry.payload.key) return undefined;
    const phase = phaseOf(entry.payload.phase);
    const { seq } = entry.event;
    // Under an old epoch events are folded as they come: an earlier one may come later.
    if (effect.outcomeAt > seq) return { effect, contradicts: !follows(phase, effect.phase), again: false };
    if (!follows(effect.phase, phase)) return { effect, contradicts: true, again: false };
    // Of a downstream that honours the key, what a repeat came to is what all came to that it repeats.
    const again = phase === "committed" && effect.inDoubt !== "reissue" && this.#otherCommitted(effect) !== undefined;
    effect.phase = phase;
    if (!open.has(phase) && effect.outcomeAt === 0) effect.outcomeAt = seq;
    if (this.#effects instanceof ManyEffects) this.#effects.follow(effect);
    return { effect, contradicts: false, again };
  }

  /** Another effect under the same key that is committed, and not compensated since. */
  #otherCommitted(effect: TrackedEffect): TrackedEffect | undefined {
    const held = this.#effects;
    if (!(held instanceof ManyEffects))
      return this.all.find((other) => other !== effect && other.key === effect.key && other.phase === "committed");
    const found = held.committedUnder(effect.key);
    return found === effect ? undefined : found;
  }

  #isReuse(effect: TrackedEffect): boolean {
    const held = this.#effects;
    if (held instanceof ManyEffects) return held.differs(effect);
    const { key, arguments: digest } = effect;
    if (digest === undefined) return false;
    return this.all.some((other) => other.key === key && other.arguments !== undefined && other.arguments !== digest);
  }

  #add(effect: TrackedEffect): void {
    const held = this.#effects;
    // Not pushed onto an empty list, which would make room for seventeen.
    if (held === undefined) this.#effects = [effect];
    else if (held instanceof ManyEffects) held.add(effect);
    else {
      insert(held, effect);
      if (held.length > mostSearched) this.#effects = new ManyEffects(held);
    }
  }

  #find(dispatch: number): TrackedEffect | undefined {
    const { all } = this;
    let low = 0;
    let high = all.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const found = all[middle];
      if (found?.dispatch === dispatch) return found;
      if ((found?.dispatch ?? 0) < dispatch) low = middle + 1;
      else high = middle - 1;
    }
    return undefined;
  }
}
