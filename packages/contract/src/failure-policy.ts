import { z } from "zod";
import { actions, errorTypes, finalities, type Action, type ErrorType, type Finality } from "./vocabulary.js";

/** Version of the vocabulary of error types and finalities. A receiver that meets another one refuses it (F11). */
export const failureVocabulary = 1;

export const severities = ["low", "medium", "high", "critical"] as const;
export type Severity = (typeof severities)[number];

/** What a level of severity means for the plan. Each level is a policy of its own, or it would not be a level (F5). */
export const behaviours = [
  "record-and-continue",
  "surface-and-continue",
  "try-alternate",
  "hold-and-ask",
  "halt-and-surface",
] as const;
export type Behaviour = (typeof behaviours)[number];

/** Actions that each behaviour admits; a row of a policy with another one contradicts itself. */
export const behaviourActions = {
  "record-and-continue": ["proceed", "verify"],
  "surface-and-continue": ["proceed", "verify", "escalate"],
  "try-alternate": ["verify", "redispatch"],
  "hold-and-ask": ["verify", "probe", "approve", "reconcile", "escalate"],
  "halt-and-surface": ["reconcile", "escalate", "halt"],
} as const satisfies Record<Behaviour, readonly Action[]>;

/** Whether the plan's next step needs the result of the task that failed. */
export const planContexts = ["needed", "optional"] as const;
export type PlanContext = (typeof planContexts)[number];

const cell = z.strictObject({ severity: z.enum(severities), action: z.enum(actions) });
export type FailureCell = z.infer<typeof cell>;

const row = z.record(z.enum(finalities), z.record(z.enum(planContexts), cell));
export type FailureRow = z.infer<typeof row>;

/** Error type × local finality × plan context → severity and action. Total: a table with a hole does not parse. */
export const failurePolicySchema = z.strictObject({
  vocabulary: z.literal(failureVocabulary),
  severities: z.record(z.enum(severities), z.enum(behaviours)),
  rows: z.record(z.enum(errorTypes), row),
});
export type FailurePolicy = z.infer<typeof failurePolicySchema>;

type Short = readonly [needed: readonly [Severity, Action], optional: readonly [Severity, Action]];

function rowOf(cells: Readonly<Record<Finality, Short>>): FailureRow {
  const long = ([[severity, action], [mild, milder]]: Short): FailureRow[Finality] => ({
    needed: { severity, action },
    optional: { severity: mild, action: milder },
  });
  return {
    recoverable: long(cells.recoverable),
    exhausted: long(cells.exhausted),
    "not-mine": long(cells["not-mine"]),
  };
}

const pass: readonly [Severity, Action] = ["low", "proceed"];
const check: readonly [Severity, Action] = ["low", "verify"];
const again: readonly [Severity, Action] = ["medium", "redispatch"];
const look: readonly [Severity, Action] = ["medium", "verify"];
const ask: readonly [Severity, Action] = ["high", "escalate"];
const agree: readonly [Severity, Action] = ["high", "approve"];
const reconcile: readonly [Severity, Action] = ["high", "reconcile"];
const probe: readonly [Severity, Action] = ["high", "probe"];
const stop: readonly [Severity, Action] = ["critical", "halt"];

const rows = {
  transient: rowOf({ recoverable: [again, pass], exhausted: [again, pass], "not-mine": [again, pass] }),
  unavailable: rowOf({ recoverable: [again, pass], exhausted: [again, pass], "not-mine": [ask, pass] }),
  "invalid-input": rowOf({ recoverable: [again, pass], exhausted: [ask, pass], "not-mine": [again, check] }),
  denied: rowOf({ recoverable: [agree, pass], exhausted: [agree, pass], "not-mine": [agree, check] }),
  conflict: rowOf({ recoverable: [again, check], exhausted: [again, check], "not-mine": [ask, check] }),
  "over-budget": rowOf({ recoverable: [again, pass], exhausted: [agree, pass], "not-mine": [agree, pass] }),
  partial: rowOf({ recoverable: [look, check], exhausted: [look, check], "not-mine": [look, check] }),
  "in-doubt": rowOf({ recoverable: [probe, probe], exhausted: [probe, probe], "not-mine": [probe, probe] }),
  defect: rowOf({ recoverable: [stop, ask], exhausted: [stop, ask], "not-mine": [stop, ask] }),
  cancelled: rowOf({
    recoverable: [reconcile, reconcile],
    exhausted: [reconcile, reconcile],
    "not-mine": [reconcile, reconcile],
  }),
} as const satisfies Record<ErrorType, FailureRow>;

export const defaultFailurePolicy: FailurePolicy = {
  vocabulary: failureVocabulary,
  severities: {
    low: "record-and-continue",
    medium: "try-alternate",
    high: "hold-and-ask",
    critical: "halt-and-surface",
  },
  rows,
};
