import type { Judge } from "@candor/contract";
import { ownPast, type Spoken, type SpokenOfEpoch, type TaskState } from "./state.js";

/** What a judge said last of a task, on whatever epoch. */
export function lastSpoken(task: TaskState, judge: Judge): Spoken | undefined {
  let next = task.spoken;
  while (next !== undefined && next.judge !== judge) next = next.next;
  return next;
}

/** What a judge said last on an epoch of a task. */
export function lastSpokenOn(task: TaskState, judge: Judge, epoch: number): SpokenOfEpoch | undefined {
  const last = lastSpoken(task, judge);
  return last?.epoch === epoch ? last : task.past.spoken.get(`${judge}/${epoch}`);
}

/**
 * Keeps what a judge says. What it said on another epoch before is kept aside: that epoch may have its say again.
 *
 * @returns place of the verdict on its subject, and among those on its epoch, each from 1
 */
export function keepSpoken(
  task: TaskState,
  judge: Judge,
  epoch: number,
  content: string,
): { readonly ordinal: number; readonly revision: number } {
  const revision = (lastSpokenOn(task, judge, epoch)?.revision ?? 0) + 1;
  const last = lastSpoken(task, judge);
  if (last === undefined) {
    task.spoken = { judge, ordinal: 1, epoch, revision, content, next: task.spoken };
    return { ordinal: 1, revision };
  }
  if (last.epoch !== epoch) {
    const { revision: before, content: said } = last;
    ownPast(task).spoken.set(`${judge}/${last.epoch}`, { revision: before, content: said });
  }
  last.ordinal += 1;
  last.epoch = epoch;
  last.revision = revision;
  last.content = content;
  return { ordinal: last.ordinal, revision };
}
