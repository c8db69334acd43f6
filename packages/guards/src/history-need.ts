import { runTask, type LogEntry } from "@candor/contract";
import type { RunState } from "./state.js";

/** What has to be read again before an entry can be folded: a task or run that is closed, or was never seen. */
export interface HistoryNeed {
  readonly run: string;
  readonly task: string;
  /** All of the run: where agents delegate parts of their tasks, what a task is judged by lies in other tasks too. */
  readonly whole?: true;
}

/** Whether a message of a task belongs to what has to be read. */
export function isNeeded(need: HistoryNeed, at: HistoryNeed): boolean {
  return need.run === at.run && (need.whole === true || at.task === need.task || at.task === runTask);
}

/** What has to be read of a task. @param subFleets of its run, as far as they are known */
export function needOf(run: string, task: string, subFleets: RunState["subFleets"]): HistoryNeed {
  return subFleets === undefined ? { run, task } : { run, task, whole: true };
}

/** Tasks to read for it, as they stand in a subject filter. */
export function neededTasks({ task, whole }: HistoryNeed): readonly string[] {
  return whole === true ? ["*"] : [...new Set([runTask, task])];
}

/** A task that is a part of another one, or that has parts. */
export function isOfFamily(entry: LogEntry): boolean {
  if (entry.type === "refused" || entry.kind !== "delegate") return false;
  return entry.payload.parent !== undefined || entry.payload.subFleet !== undefined;
}
