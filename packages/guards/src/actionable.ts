import type { Claim } from "@candor/contract";
import { enoughConfidence } from "./enough-confidence.js";

/** What of a subagent's result decides whether it can be acted upon (T1). */
export interface ActionableInput {
  readonly claim: Claim;
  /** The agent's own number, 0 to 1; null if it gave none. */
  readonly selfReportedConfidence: number | null;
  /** What the confidence function made of the log (D3), 0 to 1; null where there is none. */
  readonly computedConfidence: number | null;
}

export const inactionableReasons = [
  "claim-not-pass",
  "confidence-missing",
  "confidence-out-of-range",
  "confidence-low",
  "computed-confidence-low",
] as const;
export type InactionableReason = (typeof inactionableReasons)[number];

export interface Actionable {
  readonly actionable: boolean;
  /** Every reason why not; empty if it is. */
  readonly reasons: readonly InactionableReason[];
}

/**
 * Whether a result can be acted upon: a pass with a confidence of 0.7 or more. Stricter than the reference: a confidence
 * outside of 0 to 1 is none, and where a confidence was computed it has to be enough as well. Caveats and evidence have
 * no part in it, as in the reference; an action still waits for the guards' verdict.
 */
export function isActionable(input: ActionableInput): Actionable {
  const { claim, selfReportedConfidence: own, computedConfidence: computed } = input;
  const applies: Readonly<Record<InactionableReason, boolean>> = {
    "claim-not-pass": claim !== "pass",
    "confidence-missing": own === null,
    "confidence-out-of-range": [own, computed].some((value) => value !== null && !isShare(value)),
    "confidence-low": own !== null && isShare(own) && own < enoughConfidence,
    "computed-confidence-low": computed !== null && isShare(computed) && computed < enoughConfidence,
  };
  const reasons = inactionableReasons.filter((reason) => applies[reason]);
  return { actionable: reasons.length === 0, reasons };
}

function isShare(value: number): boolean {
  return value >= 0 && value <= 1;
}
