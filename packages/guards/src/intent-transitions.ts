import type { AdmittedOf } from "@candor/contract";

export type Standing = "delegated" | "recalled" | "terminated" | "closed";

export type TaskIntent = AdmittedOf<"delegate" | "recall" | "terminate" | "approve" | "close">;
export type TaskIntentKind = TaskIntent["kind"];

export interface Transition {
  /** States of the task in which the intent has a meaning; undefined is a task that does not exist yet. */
  readonly from: readonly (Standing | undefined)[];
  readonly to: Standing;
  readonly nextEpoch: boolean;
}

/** What each intent of a task makes of the task's standing: the fold goes by it, and so does whoever issues intents. */
export const intentTransitions: Readonly<Record<TaskIntentKind, Transition>> = {
  delegate: { from: [undefined, "delegated", "recalled", "terminated"], to: "delegated", nextEpoch: true },
  recall: { from: ["delegated"], to: "recalled", nextEpoch: false },
  terminate: { from: ["delegated", "recalled"], to: "terminated", nextEpoch: false },
  approve: { from: ["delegated"], to: "delegated", nextEpoch: false },
  close: { from: ["delegated", "recalled", "terminated"], to: "closed", nextEpoch: false },
};
