import { disclosureExplanations } from "./explain/disclosure.js";
import { dispatchExplanations } from "./explain/dispatch.js";
import { errorExplanations } from "./explain/errors.js";
import type { Explanation } from "./explain/explanation.js";
import { policyExplanations } from "./explain/policy.js";
import { recallExplanations } from "./explain/recall.js";
import { auditExplanations, quarantineExplanations } from "./explain/refusals.js";
import { resultExplanations } from "./explain/results.js";
import { upstreamExplanations } from "./explain/upstream.js";
import { undecidedExplanations } from "./explain/undecided.js";
import { actionExplanations, verdictExplanations } from "./explain/verdicts.js";

/** Where a code appears. One code may appear in several places, and then means something in each. */
export const explanations = {
  finding: {
    ...disclosureExplanations,
    ...recallExplanations,
    ...resultExplanations,
    ...dispatchExplanations,
    ...upstreamExplanations,
  },
  verdict: verdictExplanations,
  action: actionExplanations,
  quarantine: quarantineExplanations,
  audit: auditExplanations,
  error: errorExplanations,
  undecided: undecidedExplanations,
  policy: policyExplanations,
} as const satisfies Readonly<Record<string, Readonly<Record<string, Explanation>>>>;

export type ExplanationFamily = keyof typeof explanations;

export interface Explained extends Explanation {
  readonly code: string;
  /** Where the code appears, with this meaning. */
  readonly families: readonly ExplanationFamily[];
}

const families = Object.keys(explanations) as ExplanationFamily[];

/**
 * What a code means and what to do about it, once for each meaning it has. Upper and lower case are the same.
 *
 * @param code of a finding, a verdict, an action, a quarantine record, an audit, an error, a wait that ended undecided or a fault of a policy
 * @returns empty if there is no such code
 */
export function explain(code: string): readonly Explained[] {
  const wanted = code.toLowerCase();
  const meanings = new Map<Explanation, Explained>();
  for (const family of families) {
    for (const [name, explanation] of Object.entries<Explanation>(explanations[family])) {
      if (name.toLowerCase() !== wanted) continue;
      const known = meanings.get(explanation);
      meanings.set(explanation, { ...explanation, code: name, families: [...(known?.families ?? []), family] });
    }
  }
  return [...meanings.values()];
}

/** Every code that `explain` knows, each once, in the order of the families. */
export function explainedCodes(): readonly string[] {
  return [...new Set(families.flatMap((family) => Object.keys(explanations[family])))];
}
