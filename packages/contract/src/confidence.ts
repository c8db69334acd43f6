import type { Coverage } from "./payloads/agent.js";
import type { Finality } from "./vocabulary.js";

export interface ConfidenceFacts {
  readonly errors: readonly { readonly finality: Finality; readonly recovered: boolean }[];
  readonly retries: number;
  readonly coverage: Coverage;
  /** Key tasks that the brief names; what the report leaves out counts as not done. */
  readonly keyTasks: readonly string[];
  readonly caveats: number;
}

/** What each fact leaves of the score. An unrecovered error always costs more than a recovered one. */
const factors = {
  recovered: 0.97,
  retry: 0.99,
  caveat: 0.95,
  unrecovered: { recoverable: 0.7, exhausted: 0.5, "not-mine": 0.6 } satisfies Record<Finality, number>,
} as const;

const coverageWeight = { done: 1, partial: 0.5, skipped: 0, failed: 0 } as const;

/** Past this many the score is 0 to four places anyway, and the loop stays bounded. */
const most = 2_000;

function power(factor: number, times: number): number {
  // By repeated multiplication: Math.pow may differ in the last bit between engines, and guards must agree.
  let product = 1;
  for (let i = 0; i < Math.min(times, most); i += 1) product *= factor;
  return product;
}

/**
 * Completion confidence in 0..1, formula 1 (D3). The share of key tasks that are done (a partial one counts half;
 * all, if the brief names none), times 0.97 for each recovered error, 0.7 / 0.6 / 0.5 for each unrecovered one that
 * was recoverable / not the agent's / exhausted, 0.99 for each retry and 0.95 for each caveat; rounded to 4 places.
 *
 * Example: two key tasks done, one recovered error, one retry, one caveat: 1 × 0.97 × 0.99 × 0.95 = 0.9123.
 */
export function completionConfidence(facts: ConfidenceFacts): number {
  const states = new Map(facts.coverage.map(({ task, state }) => [task, state]));
  let covered = 0;
  for (const task of facts.keyTasks) covered += coverageWeight[states.get(task) ?? "skipped"];
  let score = facts.keyTasks.length === 0 ? 1 : covered / facts.keyTasks.length;

  const unrecovered: Record<Finality, number> = { recoverable: 0, exhausted: 0, "not-mine": 0 };
  let recovered = 0;
  for (const error of facts.errors) {
    if (error.recovered) recovered += 1;
    else unrecovered[error.finality] += 1;
  }
  score *= power(factors.recovered, recovered) * power(factors.retry, facts.retries);
  score *= power(factors.caveat, facts.caveats);
  for (const finality of ["recoverable", "exhausted", "not-mine"] as const) {
    score *= power(factors.unrecovered[finality], unrecovered[finality]);
  }
  return Math.round(score * 1e4) / 1e4;
}
