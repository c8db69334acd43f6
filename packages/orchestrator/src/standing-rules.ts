import { CandorError } from "@candor/contract";
import { intentTransitions, type TaskIntentKind } from "@candor/guards";
import type { Standing } from "./task-line.js";

/**
 * Refuses, before anything is sent, an intent that the guard would reject.
 *
 * @throws CandorError `not-found` for a task that was never delegated, `task-over` where the intent has no meaning any more
 */
export function requireStanding(task: string, kind: TaskIntentKind, standing: Standing | undefined): Standing {
  if (standing === undefined) {
    throw new CandorError(
      "not-found",
      `Task ${task} was never delegated, so there is nothing to ${kind}. Check the task's id.`,
      { path: "task" },
    );
  }
  if (intentTransitions[kind].from.includes(standing.state)) return standing;
  throw new CandorError(
    "task-over",
    `Task ${task} is ${standing.state} already, in epoch ${standing.epoch}, so a ${kind} has no meaning.`,
    { details: { ...standing } },
  );
}
