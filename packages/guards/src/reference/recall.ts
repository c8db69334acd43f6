import { type Gate, leave, type ReferenceOutcome } from "./gates.js";
import { pythonJsonObject } from "./python-json.js";
import { wholeSeconds } from "./seconds.js";

export interface ReferenceRecallState {
  readonly subagentId: string;
  /** Without a bound in the reference, hence no `number`. */
  readonly recallIntentSequence: bigint;
  /** Seconds since 1970. */
  readonly recallIntentEpoch: number;
  readonly inFlightActions: readonly string[];
  readonly completionGraceRemainingSec: number;
  /** An empty receipt counts as none. */
  readonly noSideEffectsReceipt: string | null;
  /** Seconds since 1970. The reference never looks at it. */
  readonly currentEpoch: number;
}

export interface ReferenceRecallPolicy {
  readonly maxGraceSec: number;
}

export type ReferenceRecallVerdict =
  | "RECALL_ACTIVE"
  | "RECALL_INFLIGHT_ACTIONS_PENDING"
  | "RECALL_COMPLETION_GRACE_EXPIRED"
  | "RECALL_NO_SIDE_EFFECTS_SAFE";

type RecallGate = Gate<ReferenceRecallState, ReferenceRecallPolicy, ReferenceRecallVerdict>;

const gates: readonly RecallGate[] = [
  {
    applies: (state) => (state.noSideEffectsReceipt ?? "") !== "" && countOf(state) === 0,
    verdict: "RECALL_NO_SIDE_EFFECTS_SAFE",
    outcome: "proceed",
    directive: () => "PROCEED: No side effects, recall safe to complete.",
    manifest: (state) =>
      pythonJsonObject({
        subagent: state.subagentId,
        sequence: state.recallIntentSequence.toString(),
        receipt: state.noSideEffectsReceipt ?? "",
      }),
  },
  {
    applies: (state) => countOf(state) > 0 && state.completionGraceRemainingSec > 0,
    verdict: "RECALL_INFLIGHT_ACTIONS_PENDING",
    outcome: "wait",
    directive: (state) =>
      `WAIT: ${countOf(state)} actions in flight. ${wholeSeconds(state.completionGraceRemainingSec)}s grace remaining.`,
    manifest: (state) => `IN_FLIGHT:${countOf(state)}`,
  },
  {
    applies: (state) => countOf(state) > 0,
    verdict: "RECALL_COMPLETION_GRACE_EXPIRED",
    outcome: "halt",
    directive: (state) => `HALT: Grace expired with ${countOf(state)} actions possibly still completing. Reconcile.`,
    manifest: (state) => `GRACE_EXPIRED:${countOf(state)}`,
  },
  {
    applies: (state, policy) => state.completionGraceRemainingSec > policy.maxGraceSec,
    verdict: "RECALL_INFLIGHT_ACTIONS_PENDING",
    outcome: "halt",
    directive: (state, policy) =>
      `HALT: Declared grace ${wholeSeconds(state.completionGraceRemainingSec)}s > max ${wholeSeconds(policy.maxGraceSec)}s.`,
    manifest: (state) => `GRACE_TOO_LONG:${wholeSeconds(state.completionGraceRemainingSec)}`,
  },
];

const active: Omit<RecallGate, "applies"> = {
  verdict: "RECALL_ACTIVE",
  outcome: "proceed",
  directive: () => "PROCEED: Recall active, no side effects detected.",
  manifest: (state) =>
    pythonJsonObject({
      subagent: state.subagentId,
      sequence: state.recallIntentSequence.toString(),
      epoch: wholeSeconds(state.recallIntentEpoch),
    }),
};

/**
 * Port of the reference `SubAgentRecallGuard.evaluate_recall`, kept exact where that is unwise too (an excessive grace
 * passes while actions are in flight, silence proceeds); the strict judge carries its outcome beside its own (R10).
 */
export function evaluateRecallReference(
  state: ReferenceRecallState,
  policy: ReferenceRecallPolicy,
): ReferenceOutcome<ReferenceRecallVerdict> {
  return leave(gates, active, state, policy);
}

function countOf(state: ReferenceRecallState): number {
  return state.inFlightActions.length;
}
