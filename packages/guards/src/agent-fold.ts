import {
  kindTable,
  needsSignature,
  taskKeyMessage,
  type AdmittedEvent,
  type AdmittedOf,
  type Judge,
  type QuarantineCode,
} from "@candor/contract";
import { judgeDisclosure } from "./disclosure.js";
import { foldDisclosure, foldFault, keepReport, ownOddities } from "./disclosure-state.js";
import { openPointers } from "./evidence-pointers.js";
import { foldFailures, foldHop } from "./failure-fold.js";
import { judgeDispatch } from "./dispatch-judge.js";
import { foldReported } from "./dispatch-state.js";
import type { Judgement } from "./judgement.js";
import { foldEffect } from "./effect-fold.js";
import { hashText, keepScope, levelOf, scopeOf } from "./kept.js";
import type { Verify } from "./output.js";
import { isDispatch } from "./outsider.js";
import { foldAcknowledge, foldNoSideEffects, judgeRecall, untouchedRecall } from "./recall.js";
import { disclosureReference, notMilder, recallReference, type Reference } from "./reference-view.js";
import { foldResult, judgeSizes } from "./result-fold.js";
import type { Speaker } from "./speaker.js";
import { foldUpstream } from "./upstream-fold.js";
import { ownRecall, type EpochState, type RunState, type TaskState } from "./state.js";
import { typedFailure } from "./typed-failure.js";

interface Refused {
  readonly code: QuarantineCode;
  readonly sentence: string;
}

/** Folds an event of a task's agent: authentic, of the right epoch, in chain order, then into each judge's state. */
export function foldAgent(
  run: RunState,
  task: TaskState,
  entry: AdmittedEvent,
  verify: Verify,
  speaker: Speaker,
): void {
  const { epoch: number, actor } = entry.event;
  const { current } = task;
  if (current === undefined || number > current.epoch) {
    speaker.quarantine(entry, "wrong-epoch", `The log holds no delegation of epoch ${number} of this task.`, "epoch");
    return;
  }
  const epoch = number === current.epoch ? current : task.past.earlier.get(number);
  if (epoch?.actor !== actor) {
    speaker.quarantine(entry, "no-delegation", `Epoch ${number} of this task is not delegated to ${actor}.`, "actor");
    return;
  }
  const refused = authenticate(epoch, entry, verify);
  if (refused !== undefined) {
    speaker.quarantine(entry, refused.code, refused.sentence);
    return;
  }
  if (epoch === current) foldCurrent(run, task, epoch, entry, speaker);
  else foldSuperseded(run, task, epoch, entry, speaker);
}

function authenticate(epoch: EpochState, entry: AdmittedEvent, verify: Verify): Refused | undefined {
  const { signature, hash, kind } = entry;
  if (kind === "accept") return authenticateAccept(epoch, entry, verify);
  if (epoch.taskKey === undefined) {
    return {
      code: "untrusted-key",
      sentence: "The agent has not accepted this epoch, so none of its events can be tied to a key.",
    };
  }
  if (signature === undefined) {
    return needsSignature(kind, entry.payload)
      ? {
          code: "unsigned",
          sentence: `An event of kind ${kind} ${kindTable[kind].signed ? "" : "with a hop "}must be signed itself.`,
        }
      : undefined;
  }
  if (verify(epoch.taskKey, hash, signature)) return undefined;
  return { code: "bad-signature", sentence: "The signature is not the accepted task key's." };
}

function authenticateAccept(epoch: EpochState, entry: AdmittedOf<"accept">, verify: Verify): Refused | undefined {
  const { event, payload, signature, hash } = entry;
  if (signature === undefined) return { code: "unsigned", sentence: "An acceptance must be signed by its task key." };
  if (event.seq !== 1 || hashText(payload.delegation) !== epoch.hash) {
    return { code: "no-delegation", sentence: "This acceptance does not answer the delegation that holds." };
  }
  const { run, task, actor } = event;
  const bound = taskKeyMessage({ run, task, epoch: event.epoch, actor, taskKey: payload.taskKey });
  if (!verify(epoch.deployment, bound, payload.certificate)) {
    return {
      code: "untrusted-key",
      sentence: "The task key is not certified by the deployment identity that was delegated to.",
    };
  }
  return verify(payload.taskKey, hash, signature)
    ? undefined
    : { code: "bad-signature", sentence: "The acceptance is not signed by the key that it names." };
}

function foldCurrent(run: RunState, task: TaskState, epoch: EpochState, entry: AdmittedEvent, speaker: Speaker): void {
  const { disclosure, chain } = epoch;
  const before = chain.gap;
  const { ready, fault, waiting, overflow } = chain.offer(entry, run.policy.reorderBuffer);
  let isNew = ready.length > 0 || chain.gap !== before;
  if (fault !== undefined && foldFault(disclosure, fault, entry.seq)) isNew = true;
  if (overflow === true && !disclosure.odd.overflowed) {
    ownOddities(disclosure).overflowed = true;
    isNew = true;
  }
  for (const next of ready) foldInOrder(run, task, epoch, next, speaker);
  // After the closing a dispatch is a ghost whatever is missing before it, and what is missing may never come.
  if ((waiting || overflow === true) && task.control.standing === "closed" && isDispatch(entry)) {
    isNew = true;
    foldEffect(run, task, epoch, entry, judgeEarlier(run, task, speaker));
  }
  // A report that waits for its predecessors starts the settle window: they may still be under way.
  if (waiting && entry.kind === "report") {
    isNew = true;
    if (!epoch.settled && task.timers.settle === undefined)
      speaker.arm(run, task, epoch, "settle", speaker.nowMs + run.policy.settleMs);
  }
  // A duplicate, or one more that waits, changes nothing, and an agent can send any number of them.
  if (isNew) judgeEpoch(run, task, epoch, speaker);
}

function foldInOrder(run: RunState, task: TaskState, epoch: EpochState, entry: AdmittedEvent, speaker: Speaker): void {
  if (entry.kind === "accept") {
    epoch.taskKey = entry.payload.taskKey;
    epoch.scope = run.shared.scope(keepScope(entry.payload.scope));
    epoch.mode = entry.payload.mode === "enforce" ? "enforce" : "observe";
  } else if (entry.kind === "effect") {
    foldEffect(run, task, epoch, entry, judgeEarlier(run, task, speaker));
  } else if (entry.kind === "acknowledge") {
    foldAcknowledge(ownRecall(epoch), entry, epoch.effects, speaker.nowMs);
  } else if (entry.kind === "no-side-effects") {
    foldNoSideEffects(ownRecall(epoch), entry, epoch.effects);
  } else if (entry.kind === "error") {
    if (entry.payload.hop !== undefined && epoch.disclosure.report === undefined)
      foldHop(epoch, entry, entry.payload.hop);
  } else if (entry.kind === "report" && epoch.disclosure.report === undefined) {
    foldFailures(run, task, epoch, entry);
  }
  // A second report says nothing: terminal facts are not overwritten.
  if (epoch.disclosure.report === undefined) foldUpstream(run, task, epoch, entry, speaker);
  foldDisclosure(epoch.disclosure, entry, epoch.scope, epoch.effects);
  if (entry.kind === "report" && epoch.dispatch !== undefined) foldReported(epoch.dispatch, entry);
}

/**
 * Under an old epoch outcomes still count and dispatches are ghosts, in whatever order they come; all else is refused
 * and changes nothing (S14) but what is known to be missing.
 */
function foldSuperseded(
  run: RunState,
  task: TaskState,
  epoch: EpochState,
  entry: AdmittedEvent,
  speaker: Speaker,
): void {
  const { chain } = epoch;
  const before = chain.gap;
  const { ready, fault, waiting, overflow } = chain.offer(entry, run.policy.reorderBuffer);
  if (ready.length === 0 && fault === undefined && !waiting && overflow !== true) return;
  const counts = entry.kind === "effect" && foldEffect(run, task, epoch, entry, judgeEarlier(run, task, speaker));
  if (counts || chain.gap !== before) judgeEpochRecall(run, task, epoch, speaker);
  if (counts) return;
  speaker.quarantine(
    entry,
    "wrong-epoch",
    `Epoch ${epoch.epoch} of this task is over; epoch ${task.current?.epoch ?? 0} holds.`,
    "epoch",
  );
}

/** A later delegation holds: the effects that wait behind a gap are known all the same. */
export function foldWaitingEffects(run: RunState, task: TaskState, epoch: EpochState, speaker: Speaker): void {
  const judge = judgeEarlier(run, task, speaker);
  for (const entry of epoch.chain.waitingEvents())
    if (entry.kind === "effect") foldEffect(run, task, epoch, entry, judge);
}

/** Judges an earlier epoch anew, of which a later one found something out. */
function judgeEarlier(run: RunState, task: TaskState, speaker: Speaker): (earlier: EpochState) => void {
  return (earlier) => {
    judgeEpochRecall(run, task, earlier, speaker);
  };
}

/** Judges an epoch anew where the last event can have changed something, and speaks what is new. */
export function judgeEpoch(run: RunState, task: TaskState, epoch: EpochState, speaker: Speaker): void {
  judgeEpochDisclosure(run, task, epoch, speaker);
  judgeEpochRecall(run, task, epoch, speaker);
}

function isOver(run: RunState, task: TaskState, epoch: EpochState): boolean {
  return epoch !== task.current || task.control.standing === "closed" || run.self.control.standing === "closed";
}

function judgeEpochDisclosure(run: RunState, task: TaskState, epoch: EpochState, speaker: Speaker): void {
  const { disclosure, chain, brief, scope, effects, settled } = epoch;
  if (disclosure.report === undefined && !settled) return;
  const waiting = disclosure.report === undefined ? chain.waitingOf("report") : undefined;
  const waitingReport = waiting === undefined ? undefined : keepReport(waiting);
  const over = isOver(run, task, epoch);
  const judgement = judgeDisclosure(disclosure, {
    brief,
    scope,
    effects,
    gap: chain.gap,
    settled,
    over,
    waitingReport,
    failures: run.policy.failures,
    familyFindings: epoch.family?.findings,
  });
  if (judgement === undefined) return;
  const report = disclosure.report ?? waitingReport;
  const reference = report === undefined ? undefined : disclosureReference(epoch, report, run.policy);
  speaker.verdict(run, task, "disclosure", stricterThan(judgement, reference), {
    epoch,
    scope: scope === undefined ? undefined : scopeOf(scope),
    confidence: report?.confidence.score,
    failure: typedFailure(epoch, run),
    reference: reference?.stated,
    ...(epoch.dispatch === undefined ? {} : { awaits: ["dispatch"] as Judge[] }),
  });
  // Also in a closed task: nothing else would ever look.
  if (epoch === task.current && task.timers.evidence === undefined && openPointers(disclosure.odd.evidence).length > 0)
    speaker.arm(run, task, epoch, "evidence", speaker.nowMs);
  judgeEpochDispatch(run, task, epoch, speaker);
  if (over) return;
  if (disclosure.report !== undefined) {
    judgeSizes(run, task, epoch, disclosure.report, speaker);
    foldResult(run, task, epoch, disclosure.report, speaker);
  }
  if (judgement.final) speaker.cancel(run, task, "settle");
  else if (task.timers.settle === undefined) {
    speaker.arm(run, task, epoch, "settle", speaker.nowMs + run.policy.settleMs);
  }
}

/** Where the delegation states terms, and nobody stopped the task: how its report is to be dealt with. */
function judgeEpochDispatch(run: RunState, task: TaskState, epoch: EpochState, speaker: Speaker): void {
  const { dispatch, brief, recall } = epoch;
  if (dispatch === undefined || brief.terms === undefined || recall.order !== undefined) return;
  const report = dispatch.report?.hash;
  speaker.verdict(run, task, "dispatch", judgeDispatch(dispatch, brief.terms), { epoch, report });
}

export function judgeEpochRecall(run: RunState, task: TaskState, epoch: EpochState, speaker: Speaker): void {
  const { recall, effects, chain, disclosure, scope } = epoch;
  // Of nearly every event: nobody stopped this epoch, and there is nothing to say.
  if (recall === untouchedRecall) return;
  const reported = disclosure.report !== undefined;
  const gap = chain.gap !== undefined || disclosure.odd.overflowed;
  const seesEffects = scope !== undefined && levelOf(scope, "effects") !== "unseen";
  const judgement = judgeRecall(recall, { effects, seesEffects, reported, gap });
  if (judgement === undefined) return;
  const reference = recallReference(epoch, run.policy, speaker.nowMs);
  const { order } = recall;
  speaker.verdict(run, task, "recall", stricterThan(judgement, reference), {
    epoch,
    reference: reference?.stated,
    inFlight: effects.inFlight,
    deadlineMs: order?.kind === "recall" ? order.graceEndsMs : undefined,
  });
  if (isOver(run, task, epoch)) return;
  if (recall.acknowledged !== undefined || reported) speaker.cancel(run, task, "acknowledge");
  if (judgement.final) for (const timer of ["acknowledge", "grace"] as const) speaker.cancel(run, task, timer);
  // What was final no longer is: the window goes on.
  else if (order?.kind === "recall" && !recall.graceExpired && task.timers.grace === undefined)
    speaker.arm(run, task, epoch, "grace", order.graceEndsMs);
}

function stricterThan(judgement: Judgement, reference: Reference | undefined): Judgement {
  return { ...judgement, action: notMilder(judgement.action, reference) };
}
