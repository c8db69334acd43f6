import { CandorError } from "@candor/contract";

export interface ReferenceSubagentResult {
  readonly verdict: string;
  /** False for a plain text, which the reference never takes for its enumeration's member of that value. */
  readonly verdictIsMember: boolean;
  /** A number; values of other types are compared as Python compares them. */
  readonly confidence: unknown;
}

/**
 * Port of the reference `SubagentResult.is_actionable`: a pass with a confidence of 0.7 or more, above 1 as well.
 *
 * @throws CandorError `malformed` where Python can't compare the confidence, which it looks at on a pass only
 */
export function isActionableReference({ verdict, verdictIsMember, confidence }: ReferenceSubagentResult): boolean {
  return verdictIsMember && verdict === "pass" && comparable(confidence) >= 0.7;
}

export interface ReferenceSpawnEstimate {
  readonly estimatedToolCalls: number;
  readonly expectedOutputTokens: number;
  readonly estimatedIntermediateTokens: number;
}

/** Port of the reference `should_spawn`, kept exact where it lets NaN through, and a result as large as its work. */
export function shouldSpawnReference(estimate: ReferenceSpawnEstimate): boolean {
  if (estimate.estimatedToolCalls <= 1) return false;
  if (estimate.expectedOutputTokens < 400) return false;
  return estimate.estimatedIntermediateTokens > 2000;
}

function comparable(confidence: unknown): number {
  if (typeof confidence === "number") return confidence;
  // True and False are the whole numbers 1 and 0 in Python.
  if (typeof confidence === "boolean") return confidence ? 1 : 0;
  throw new CandorError("malformed", "The confidence of a pass must be a number.", { path: "confidence" });
}
