import type { DispatchFindingCode, ReportStatus } from "@candor/contract";

/** What the orchestrator does about a report. Closed. Accepting is none of them: that takes a verifier's outcome. */
export const dispatchActions = [
  "verify-accept-on-pass",
  "verify-no-reprompt",
  "verify-and-ablate",
  "redispatch-with-blockers",
  "surface-blocker",
  "escalate",
] as const;
export type DispatchAction = (typeof dispatchActions)[number];

/** Those that a verifier has the last word on. */
export type VerifyAction = Extract<DispatchAction, `verify-${string}`>;

/** What the rows look at; undefined is for what is not known. Free text is not among it. */
export interface DispatchFacts {
  readonly status: ReportStatus;
  /** Confidence of 0.7 or more. */
  readonly isConfident: boolean;
  /** The report asks for a person. */
  readonly isFlagged: boolean;
  readonly hasBlockers: boolean;
  readonly retryLeft: boolean | undefined;
  readonly newMechanism: boolean | undefined;
}

type Condition = boolean | undefined;

export interface DispatchRow {
  readonly action: DispatchAction;
  readonly sentence: string;
  /** What the guard finds where the row is a reason to escalate. */
  readonly finding?: DispatchFindingCode;
  /** Undefined if that depends on something unknown. */
  readonly applies: (facts: DispatchFacts) => Condition;
}

/** The table of U2. Its order means nothing: if two rows apply, none is taken. */
const rows: readonly DispatchRow[] = [
  {
    action: "verify-accept-on-pass",
    sentence: "completed with enough confidence: run the verifier, and accept if it passes",
    applies: ({ status, isConfident }) => status === "completed" && isConfident,
  },
  {
    action: "verify-no-reprompt",
    sentence: "completed with little confidence: run the verifier, and do not ask the agent again",
    applies: ({ status, isConfident, newMechanism }) => both(status === "completed" && !isConfident, not(newMechanism)),
  },
  {
    action: "verify-and-ablate",
    sentence: "completed with little confidence by a new mechanism: run the verifier, with the mechanism and without",
    applies: ({ status, isConfident, newMechanism }) => both(status === "completed" && !isConfident, newMechanism),
  },
  {
    action: "redispatch-with-blockers",
    sentence: "failed with blockers, and a retry is left: delegate again with the blockers as quoted data",
    applies: ({ status, hasBlockers, retryLeft }) => both(status === "failed" && hasBlockers, retryLeft),
  },
  {
    action: "escalate",
    sentence: "failed, and no retry is left",
    finding: "budget-spent",
    applies: ({ status, retryLeft }) => both(status === "failed", not(retryLeft)),
  },
  {
    action: "escalate",
    sentence: "the report asks for a person",
    finding: "escalation-requested",
    applies: ({ isFlagged }) => isFlagged,
  },
  {
    action: "escalate",
    sentence: "denied by authority: only a person can widen it",
    finding: "authority-denied",
    applies: ({ status }) => status === "denied-by-authority",
  },
  {
    action: "surface-blocker",
    sentence: "blocked: tell the user, and do not delegate again",
    finding: "task-blocked",
    applies: ({ status }) => status === "blocked",
  },
];

/** The rows that apply, and those of which that is not known. */
export function matchRows(facts: DispatchFacts): {
  readonly matched: readonly DispatchRow[];
  readonly open: readonly DispatchRow[];
} {
  return {
    matched: rows.filter(({ applies }) => applies(facts) === true),
    open: rows.filter(({ applies }) => applies(facts) === undefined),
  };
}

function both(known: boolean, other: Condition): Condition {
  return known ? other : false;
}

function not(condition: Condition): Condition {
  return condition === undefined ? undefined : !condition;
}
