import {
  scopeDimensions,
  scopeLevels,
  type AdmittedOf,
  type Brief,
  type Scope,
  type ScopeDimension,
  type ScopeLevel,
} from "@candor/contract";

/** Nothing, once for all tasks: what is open is many, and most lists of most tasks stay empty. */
export const none: readonly never[] = [];

/** A hash as text of one character a byte: a third of what a byte array of its own weighs. */
export function hashText(hash: Uint8Array): string {
  return String.fromCharCode(...hash);
}

/** What judging needs of a brief; prose and what only the orchestrator reads are left out. */
export interface KeptBrief {
  readonly keyTasks: readonly string[];
  readonly critical: boolean;
  readonly directlyVerifiable: boolean;
  readonly maxGraceMs: number | undefined;
  /** A bit for each dimension of observation that the verdict can't do without. */
  readonly needs: number;
}

export function keepBrief({ keyTasks, critical, directlyVerifiable, maxGraceMs, needs }: Brief): KeptBrief {
  const bits = needs.reduce((set, dimension) => set | (1 << scopeDimensions.indexOf(dimension)), 0);
  return { keyTasks: keyTasks.length === 0 ? none : keyTasks, critical, directlyVerifiable, maxGraceMs, needs: bits };
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

export function scopeOf({ levels, adapter, framework }: KeptScope): Scope {
  const level = (i: number): ScopeLevel => scopeLevels[(levels >> (2 * i)) & 3] ?? "unseen";
  const dimensions = Object.fromEntries(
    scopeDimensions.map((dimension, i) => [dimension, level(i)]),
  ) as Scope["dimensions"];
  return framework === undefined ? { dimensions, adapter } : { dimensions, adapter, framework };
}

/** Minted intent keys as one text. Ids hold no `|`, so a look-up is a search. */
export function keepKeys(intents: AdmittedOf<"delegate">["payload"]["intents"]): string {
  return intents.length === 0 ? "" : `|${intents.map(({ key }) => key).join("|")}|`;
}

export function holdsKey(keys: string, key: string): boolean {
  return keys.includes(`|${key}|`);
}
