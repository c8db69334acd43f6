import {
  scopeDimensions,
  scopeLevels,
  type Brief,
  type Scope,
  type ScopeDimension,
  type ScopeLevel,
  type VerifierKind,
} from "@candor/contract";

/** Nothing, once for all tasks: what is open is many, and most lists of most tasks stay empty. */
export const none: readonly never[] = [];

/** A hash as text of one character a byte: a third of what a byte array of its own weighs. */
export function hashText(hash: Uint8Array): string {
  return String.fromCharCode(...hash);
}

/** The bytes of what `hashText` made. */
export function bytesOfText(text: string): Uint8Array {
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0));
}

/** Values that many tasks of a run have in common are held once; past this many the rest stand for themselves. */
const mostShared = 4_096;

/** Equal values held once. Nothing can tell the difference but the memory. */
export class Shared {
  readonly #texts = new Map<string, string>();
  readonly #briefs = new Map<string, KeptBrief>();
  readonly #scopes = new Map<string, KeptScope>();

  text(value: string): string {
    return share(this.#texts, value, value);
  }

  brief(value: KeptBrief): KeptBrief {
    return share(this.#briefs, JSON.stringify(value), value);
  }

  scope(value: KeptScope): KeptScope {
    return share(this.#scopes, JSON.stringify(value), value);
  }
}

function share<Value>(known: Map<string, Value>, name: string, value: Value): Value {
  const found = known.get(name);
  if (found !== undefined) return found;
  if (known.size < mostShared) known.set(name, value);
  return value;
}

/** What judging needs of a brief; prose and what only the orchestrator reads are left out. */
export interface KeptBrief {
  readonly keyTasks: readonly string[];
  readonly critical: boolean;
  readonly directlyVerifiable: boolean;
  readonly maxGraceMs: number | undefined;
  /** The plan context of a failure. */
  readonly resultNeeded: boolean;
  /** What the result is about; absent where the brief does not say. */
  readonly examines?: readonly string[];
  /** A bit for each dimension of observation that the verdict can't do without. */
  readonly needs: number;
  readonly terms?: KeptTerms;
}

/** What the orchestrator may do about the report, and what the agent may do. Digests as `hashText`. */
export interface KeptTerms {
  readonly redispatches: number;
  readonly verifier: { readonly kind: VerifierKind; readonly digest: string } | undefined;
  readonly ablation: string | undefined;
  readonly newMechanism: boolean | undefined;
  readonly authority: readonly string[];
}

/** The terms of a brief; undefined if it states none. */
export function keepTerms({ terms, authority }: Pick<Brief, "terms" | "authority">): KeptTerms | undefined {
  if (terms === undefined) return undefined;
  const { redispatches, verifier, ablation, newMechanism } = terms;
  return {
    redispatches,
    verifier: verifier && { kind: verifier.kind, digest: hashText(verifier.digest) },
    ablation: ablation && hashText(ablation),
    newMechanism,
    authority: authority.length === 0 ? none : authority,
  };
}

export function keepBrief(brief: Brief): KeptBrief {
  const { keyTasks, critical, directlyVerifiable, maxGraceMs, resultNeeded = true, needs, examines } = brief;
  const terms = keepTerms(brief);
  const bits = needs.reduce((set, dimension) => set | (1 << scopeDimensions.indexOf(dimension)), 0);
  const tasks = keyTasks.length === 0 ? none : keyTasks;
  const kept = { keyTasks: tasks, critical, directlyVerifiable, maxGraceMs, resultNeeded, needs: bits };
  if (examines === undefined && terms === undefined) return kept;
  return { ...kept, ...(examines === undefined ? {} : { examines }), ...(terms === undefined ? {} : { terms }) };
}

export function neededDimensions({ needs }: KeptBrief): ScopeDimension[] {
  return scopeDimensions.filter((_, i) => (needs & (1 << i)) !== 0);
}

/** A scope with its levels in two bits each. */
export interface KeptScope {
  readonly levels: number;
  readonly adapter: string;
  readonly framework: string | undefined;
}

export function keepScope({ dimensions, adapter, framework }: Scope): KeptScope {
  const levels = scopeDimensions.reduce(
    (bits, dimension, i) => bits | (scopeLevels.indexOf(dimensions[dimension]) << (2 * i)),
    0,
  );
  return { levels, adapter, framework };
}

/** How much of one dimension was observed. */
export function levelOf({ levels }: KeptScope, dimension: ScopeDimension): ScopeLevel {
  return scopeLevels[(levels >> (2 * scopeDimensions.indexOf(dimension))) & 3] ?? "unseen";
}

export function scopeOf(scope: KeptScope): Scope {
  const { adapter, framework } = scope;
  const dimensions = Object.fromEntries(
    scopeDimensions.map((dimension) => [dimension, levelOf(scope, dimension)]),
  ) as Scope["dimensions"];
  return framework === undefined ? { dimensions, adapter } : { dimensions, adapter, framework };
}
