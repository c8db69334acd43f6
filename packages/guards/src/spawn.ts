/** What is expected of a piece of work before anybody is asked to do it. */
export interface SpawnEstimate {
  readonly toolCalls: number;
  /** Size of the result, in tokens. */
  readonly outputTokens: number;
  /** What is read and written on the way and that the parent need not see, in tokens. */
  readonly intermediateTokens: number;
}

export interface SpawnDecision {
  readonly spawn: boolean;
  readonly reason: SpawnReason;
}

interface SpawnRow {
  readonly reason: string;
  readonly sentence: string;
  readonly applies: (estimate: SpawnEstimate) => boolean;
}

/** A result of at least this share of its work is nearly as large as the work. */
export const nearlyAsLarge = 0.8;

/** Why not, in this order; without any of them it is worth a subagent. */
const rows = [
  {
    reason: "estimate-invalid",
    sentence: "an estimate is negative or no finite number",
    applies: (estimate) => Object.values(estimate).some((value: number) => !(Number.isFinite(value) && value >= 0)),
  },
  {
    reason: "too-few-tool-calls",
    sentence: "one tool call or none: do it in place",
    applies: ({ toolCalls }) => toolCalls <= 1,
  },
  {
    reason: "output-too-small",
    sentence: "a result under 400 tokens: do it in place",
    applies: ({ outputTokens }) => outputTokens < 400,
  },
  {
    reason: "noise-too-little",
    sentence: "2,000 tokens on the way or fewer: there is little to keep away from the parent",
    applies: ({ intermediateTokens }) => intermediateTokens <= 2000,
  },
  {
    reason: "under-decomposed",
    sentence: "the result is nearly as large as the work: divide it differently",
    applies: ({ outputTokens, intermediateTokens }) => isNearlyAsLarge(intermediateTokens, outputTokens),
  },
] as const satisfies readonly SpawnRow[];

export type SpawnReason = (typeof rows)[number]["reason"] | "worth-it";

/** What each reason means, for people. */
export const spawnReasons: Readonly<Record<SpawnReason, string>> = {
  ...(Object.fromEntries(rows.map(({ reason, sentence }) => [reason, sentence])) as Record<
    (typeof rows)[number]["reason"],
    string
  >),
  "worth-it": "enough calls, result and noise: a subagent keeps the noise away from the parent",
};

/**
 * Whether a piece of work is worth a subagent, and why (T5). Stricter than the reference: an estimate that is no number
 * spawns nothing, nor does a result that is nearly as large as its work.
 */
export function shouldSpawn(estimate: SpawnEstimate): SpawnDecision {
  const row = rows.find(({ applies }) => applies(estimate));
  return row === undefined ? { spawn: true, reason: "worth-it" } : { spawn: false, reason: row.reason };
}

/** Measured sizes of work that was done, both in the same unit (tokens or bytes). */
export interface WorkSizes {
  /** What went through the subagent on the way. */
  readonly work: number;
  /** What it handed back. */
  readonly result: number;
}

export type Decomposition = "sound" | "under-decomposed" | "unmeasured";

/**
 * Whether work was divided well: a result of 0.8 of its work or more saved the parent nearly nothing. Work or result of
 * no size, or of none that is a number, are `unmeasured`.
 */
export function decomposition({ work, result }: WorkSizes): Decomposition {
  const isMeasured = [work, result].every((size) => Number.isFinite(size) && size > 0);
  if (!isMeasured) return "unmeasured";
  return isNearlyAsLarge(work, result) ? "under-decomposed" : "sound";
}

function isNearlyAsLarge(work: number, result: number): boolean {
  return result >= work * nearlyAsLarge;
}
