import { guardActor, type AdmittedEvent } from "@candor/contract";
import { judgeEpoch } from "./agent-fold.js";
import { foldFound, openPointers } from "./evidence-pointers.js";
import { settle } from "./intent-fold.js";
import { none } from "./kept.js";
import type { Speaker } from "./speaker.js";
import { ownRecall, type RunState } from "./state.js";

/** What guards tell the log, they tell under one actor. Returns whether the event is refused. */
export function refuseOtherGuard(entry: AdmittedEvent, speaker: Speaker): boolean {
  if (entry.event.actor === guardActor) return false;
  const what = entry.kind === "timer" ? "Timers" : "Records of what was collected";
  speaker.quarantine(entry, "untrusted-key", `${what} are published by the shared actor ${guardActor}.`, "actor");
  return true;
}

/** How long after a look-up that left something open, in ms of log time, the next one is due. */
const lookAgainMs = 1_000;

/** Folds a deadline that has passed, as the log says; a repeated, cancelled or superseded one is a no-op. */
export function foldTimer(run: RunState, entry: AdmittedEvent, speaker: Speaker): void {
  if (entry.kind !== "timer") return;
  if (refuseOtherGuard(entry, speaker)) return;
  const task = run.tasks.get(entry.event.task);
  const { timer, deadlineMs, evidence = none } = entry.payload;
  const armed = task?.timers[timer];
  const epoch = task?.current;
  if (
    task === undefined ||
    epoch === undefined ||
    armed?.epoch !== entry.event.epoch ||
    armed.deadlineMs !== deadlineMs
  )
    return;
  if (speaker.nowMs < deadlineMs) {
    speaker.arm(run, task, epoch, timer, deadlineMs);
    return;
  }
  speaker.cancel(run, task, timer);
  if (timer === "settle") settle(epoch);
  else if (timer === "evidence") {
    const pointers = epoch.disclosure.odd.evidence;
    foldFound(pointers, evidence);
    if (openPointers(pointers).length > 0) speaker.arm(run, task, epoch, timer, speaker.nowMs + lookAgainMs);
  } else if (timer === "acknowledge") ownRecall(epoch).acknowledgeExpired = true;
  else ownRecall(epoch).graceExpired = true;
  judgeEpoch(run, task, epoch, speaker);
}
