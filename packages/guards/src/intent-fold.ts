import { timerKinds, type AdmittedEvent, type AdmittedOf, type FindingCode, type VerdictBody } from "@candor/contract";
import { foldWaitingEffects, judgeEpoch, judgeEpochRecall } from "./agent-fold.js";
import { ownOddities } from "./disclosure-state.js";
import { foldChildBegun, foldChildEnded } from "./failure-fold.js";
import type { TaskIntent } from "./intent-transitions.js";
import { foldIntent, intentFault, isTaskIntent, runIntentFault } from "./intent.js";
import type { Judgement } from "./judgement.js";
import { foldRecall, foldTerminate, type StopLimits } from "./recall.js";
import { withdrawResult } from "./result-fold.js";
import type { Speaker } from "./speaker.js";
import { addSubFleet, familyFault } from "./sub-fleet.js";
import { holdApproval, nextDispatch, termsFault } from "./terms.js";
import { initialEpoch, ownPast, ownRecall, type EpochState, type RunState, type TaskState } from "./state.js";

/** Folds an authentic intent of a task: the next one holds, any other is rejected by name and changes nothing (R2). */
export function foldTaskIntent(run: RunState, task: TaskState, entry: AdmittedEvent, speaker: Speaker): void {
  if (!isTaskIntent(entry)) return;
  const fault =
    intentFault(task.control, entry, { nowMs: speaker.nowMs, policyHash: run.policyHash }) ??
    // With the run everything in it is over.
    (run.self.control.standing === "closed" ? "intent-stale" : undefined) ??
    (entry.kind === "delegate" ? familyFault(run, task, entry) : undefined) ??
    termsFault(run.fleet, task.current, entry);
  if (fault !== undefined) {
    speakIntent(run, task, entry, fault, speaker);
    return;
  }
  foldIntent(task.control, entry);
  // Old epoch first: what it leaves behind is judged before the new intent is confirmed.
  hold(run, task, entry, speaker);
  speakIntent(run, task, entry, undefined, speaker);
  if (task.current !== undefined) judgeEpoch(run, task, task.current, speaker);
}

/** Folds an authentic intent of the run itself. Returns whether it holds. */
export function foldRunIntent(run: RunState, entry: AdmittedEvent, speaker: Speaker): boolean {
  const fault = runIntentFault(run.self.control, entry);
  if (fault === undefined) foldIntent(run.self.control, entry);
  speakIntent(run, run.self, entry, fault, speaker);
  return fault === undefined;
}

/** Says that an intent holds, or why it does not. */
export function speakIntent(
  run: RunState,
  task: TaskState,
  entry: AdmittedEvent,
  fault: FindingCode | undefined,
  speaker: Speaker,
): void {
  const about: VerdictBody["intent"] = {
    control: entry.event.seq,
    kind: entry.kind,
    hash: Uint8Array.from(entry.hash),
  };
  const judgement: Judgement =
    fault === undefined
      ? { verdict: "INTENT_ACCEPTED", action: "proceed", final: true, findings: [] }
      : { verdict: "INTENT_REJECTED", action: "halt", final: true, findings: [{ code: fault, seq: entry.seq }] };
  speaker.verdict(run, task, "intent", judgement, { epoch: task.current, intent: about });
}

function hold(run: RunState, task: TaskState, entry: TaskIntent, speaker: Speaker): void {
  if (entry.kind === "delegate") {
    supersede(run, task, entry as AdmittedOf<"delegate">, speaker);
    addSubFleet(run, entry as AdmittedOf<"delegate">);
    foldChildBegun(run, task);
    return;
  }
  const epoch = task.current;
  if (epoch === undefined) return;
  if (entry.kind !== "recall") foldChildEnded(run, task);
  const limits = stopLimits(run, epoch);
  if (entry.kind === "recall") {
    foldRecall(ownRecall(epoch), entry as AdmittedOf<"recall">, limits, speaker.nowMs);
    armStop(run, task, epoch, speaker);
  } else if (entry.kind === "terminate") {
    foldTerminate(ownRecall(epoch), entry as AdmittedOf<"terminate">, limits, speaker.nowMs);
    for (const timer of ["acknowledge", "grace"] as const) speaker.cancel(run, task, timer);
  } else if (entry.kind === "approve") {
    holdApproval(epoch, entry as AdmittedOf<"approve">);
  } else {
    settle(epoch);
    if ((entry as AdmittedOf<"close">).payload.state !== "accepted") withdrawResult(run, task, speaker);
  }
}

function stopLimits(run: RunState, epoch: EpochState): StopLimits {
  const { acknowledgeMs, maxGraceMs } = run.policy;
  return { acknowledgeMs, maxGraceMs: Math.min(maxGraceMs, epoch.brief.maxGraceMs ?? maxGraceMs) };
}

function armStop(run: RunState, task: TaskState, epoch: EpochState, speaker: Speaker): void {
  const { order } = epoch.recall;
  if (order === undefined) return;
  speaker.arm(run, task, epoch, "acknowledge", order.acknowledgeByMs);
  speaker.arm(run, task, epoch, "grace", order.graceEndsMs);
}

/** A new delegation ends the epoch before it. Without a report or an order to stop, that one is abandoned (R11). */
function supersede(run: RunState, task: TaskState, entry: AdmittedOf<"delegate">, speaker: Speaker): void {
  const old = task.current;
  if (old !== undefined) {
    for (const timer of timerKinds) speaker.cancel(run, task, timer);
    if (old.disclosure.report === undefined && old.recall.order === undefined) ownRecall(old).abandoned = true;
    // A window that the new delegation cuts short is over: what is open in it is unknown.
    else if (old.recall.order !== undefined) ownRecall(old).graceExpired = true;
    foldWaitingEffects(run, task, old, speaker);
    // What it went through is nobody's report any more.
    old.trouble = undefined;
    judgeEpochRecall(run, task, old, speaker);
    if (old.disclosure.report !== undefined) settle(old);
    ownPast(task).earlier.set(old.epoch, old);
  }
  withdrawResult(run, task, speaker);
  task.current = initialEpoch(entry, task.control.hash, run.shared);
  const dispatch = nextDispatch(old, entry);
  if (dispatch !== undefined) task.current.dispatch = dispatch;
}

/** Nothing more is waited for: what is missing now is a finding. */
export function settle(epoch: EpochState): void {
  epoch.settled = true;
  const { gap } = epoch.chain;
  if (gap !== undefined) ownOddities(epoch.disclosure).lostAt = gap;
}
