import { guardActor, type AdmittedEvent } from "@candor/contract";
import { judgeEpoch } from "./agent-fold.js";
import { settle } from "./intent-fold.js";
import type { Speaker } from "./speaker.js";
import { ownRecall, type RunState } from "./state.js";

/** Folds a deadline that has passed, as the log says; a repeated, cancelled or superseded one is a no-op. */
export function foldTimer(run: RunState, entry: AdmittedEvent, speaker: Speaker): void {
  if (entry.kind !== "timer") return;
  if (entry.event.actor !== guardActor) {
    speaker.quarantine(entry, "untrusted-key", `Timers are published by the shared actor ${guardActor}.`, "actor");
    return;
  }
  const task = run.tasks.get(entry.event.task);
  const { timer, deadlineMs } = entry.payload;
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
  else if (timer === "acknowledge") ownRecall(epoch).acknowledgeExpired = true;
  else ownRecall(epoch).graceExpired = true;
  judgeEpoch(run, task, epoch, speaker);
}
