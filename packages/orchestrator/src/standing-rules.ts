import { CandorError, type IntentKind } from "@candor/contract";
import type { Standing, TaskState } from "./task-line.js";

/** States of a task in which an intent has a meaning; in others the guard rejects it as stale. */
const meaningful = {
  delegate: ["delegated", "recalled", "terminated"],
  recall: ["delegated"],
  terminate: ["delegated", "recalled"],
  close: ["delegated", "recalled", "terminated"],
} as const satisfies Partial<Record<IntentKind, readonly TaskState[]>>;

/**
 * Refuses, before anything is sent, an intent that the guard would reject.
 *
 * @throws CandorError `not-found` for a task that was never delegated, `task-over` where the intent has no meaning any more
 */
export function requireStanding(task: string, kind: keyof typeof meaningful, standing: Standing | undefined): Standing {
  if (standing === undefined) {
    throw new CandorError(
      "not-found",
      `Task ${task} was never delegated, so there is nothing to ${kind}. Check the task's id.`,
      { path: "task" },
    );
  }
  const states: readonly TaskState[] = meaningful[kind];
  if (states.includes(standing.state)) return standing;
  throw new CandorError(
    "task-over",
    `Task ${task} is ${standing.state} already, in epoch ${standing.epoch}, so a ${kind} has no meaning.`,
    { details: { ...standing } },
  );
}
