import type { Action, DoubtPolicy } from "@candor/contract";

/** What the orchestrator does about an effect that stays in doubt: the agent has done what its intent declares. */
export const doubtAction = {
  reissue: "reconcile",
  probe: "reconcile",
  halt: "escalate",
} as const satisfies Record<DoubtPolicy, Action>;
