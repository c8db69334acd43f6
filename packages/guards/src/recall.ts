import type { Action, AdmittedOf, EffectPhase, FindingCode, VerdictName } from "@candor/contract";
import { doubtAction } from "./doubt-action.js";
import type { EffectLedger, Outcome, TrackedEffect } from "./effect-ledger.js";
import { FindingList, type Judgement } from "./judgement.js";

/** A recall or termination of the epoch, with its deadlines in log time. */
export interface StopOrder {
  readonly kind: "recall" | "terminate";
  readonly control: number;
  /** Log sequence of the intent: a dispatch stored after it is a ghost, whenever its turn comes. */
  readonly seq: number;
  /** Log time of the intent. */
  readonly orderedAtMs: number;
  readonly acknowledgeByMs: number;
  readonly graceEndsMs: number;
  /** The intent asked for more than policy or brief allow; the window was cut to the maximum. */
  readonly excessive: boolean;
}

export interface RecallState {
  order: StopOrder | undefined;
  acknowledged: { readonly seq: number; readonly takenAt: number; readonly manifestGiven: boolean } | undefined;
  /** Hash of the signed no-side-effects receipt. */
  noSideEffects: { readonly hash: Uint8Array; readonly takenAt: number; readonly seq: number } | undefined;
  acknowledgeExpired: boolean;
  graceExpired: boolean;
  /** A later delegation ended this epoch before its report. */
  abandoned: boolean;
  /** Findings that events made once and for all. */
  readonly findings: FindingList;
}

/** A state of its own, for an epoch that is stopped, or about which there is something to say. */
export function initialRecall(): RecallState {
  return {
    order: undefined,
    acknowledged: undefined,
    noSideEffects: undefined,
    acknowledgeExpired: false,
    graceExpired: false,
    abandoned: false,
    findings: new FindingList(),
  };
}

/** What most epochs have for ever: nobody stopped them. Never written to. */
export const untouchedRecall: RecallState = initialRecall();

export interface StopLimits {
  readonly acknowledgeMs: number;
  readonly maxGraceMs: number;
}

/** A recall holds: its window is the smaller of what it asks for and what policy and brief allow (R4). */
export function foldRecall(state: RecallState, entry: AdmittedOf<"recall">, limits: StopLimits, nowMs: number): void {
  const { graceMs } = entry.payload;
  state.order = {
    kind: "recall",
    control: entry.event.seq,
    seq: entry.seq,
    orderedAtMs: nowMs,
    acknowledgeByMs: nowMs + limits.acknowledgeMs,
    graceEndsMs: nowMs + Math.min(graceMs, limits.maxGraceMs),
    excessive: graceMs > limits.maxGraceMs,
  };
  if (state.order.excessive) state.findings.add("grace-excessive", String(graceMs), entry.seq);
}

/** A termination holds: there is no window, what has no outcome is unknown at once (R8). */
export function foldTerminate(
  state: RecallState,
  entry: AdmittedOf<"terminate">,
  limits: StopLimits,
  nowMs: number,
): void {
  state.order = {
    kind: "terminate",
    control: entry.event.seq,
    seq: entry.seq,
    orderedAtMs: nowMs,
    acknowledgeByMs: nowMs + limits.acknowledgeMs,
    graceEndsMs: nowMs,
    excessive: false,
  };
}

/** The acknowledgement with its in-flight manifest, compared with what the log knows (R3). */
export function foldAcknowledge(
  state: RecallState,
  entry: AdmittedOf<"acknowledge">,
  effects: EffectLedger,
  nowMs: number,
): void {
  const { manifest, takenAt } = entry.payload;
  const order = answeredOrder(state, entry);
  if (order === undefined) return;
  if (state.acknowledged !== undefined) return;
  state.acknowledged = { seq: entry.seq, takenAt, manifestGiven: manifest !== undefined };
  if (nowMs > order.acknowledgeByMs) state.findings.add("acknowledgement-late", undefined, entry.seq);
  if (manifest === undefined) {
    state.findings.add("manifest-mismatch", "absent", entry.seq);
  } else {
    const known = new Map(effects.inFlightAt(takenAt).map((effect) => [effect.dispatch, effect.key]));
    const listed = new Map(manifest.map(({ dispatch, key }) => [dispatch, key]));
    for (const { dispatch, key } of manifest)
      if (known.get(dispatch) !== key) state.findings.add("manifest-mismatch", key, entry.seq);
    for (const [dispatch, key] of known)
      if (!listed.has(dispatch)) state.findings.add("manifest-mismatch", key, entry.seq);
  }
  for (const effect of effects.all) if (effect.dispatch > takenAt) ghost(state, effect);
}

/** The order that the agent answers; undefined, and a finding, if there is none of that number, or was none then. */
function answeredOrder(
  { order, findings }: RecallState,
  { seq, payload: { control } }: AdmittedOf<"acknowledge" | "no-side-effects">,
): StopOrder | undefined {
  if (order?.control === control && seq > order.seq) return order;
  findings.add("manifest-mismatch", `answers control ${control}`, seq);
  return undefined;
}

export function foldNoSideEffects(
  state: RecallState,
  entry: AdmittedOf<"no-side-effects">,
  effects: EffectLedger,
): void {
  if (answeredOrder(state, entry) === undefined) return;
  // One receipt is enough: what is dispatched or has an outcome after it is compared with it then.
  if (state.noSideEffects !== undefined) return;
  const { takenAt } = entry.payload;
  state.noSideEffects = { hash: Uint8Array.from(entry.hash), takenAt, seq: entry.seq };
  for (const effect of effects.all)
    if (effect.phase !== "not-run") state.findings.add("no-side-effects-contradicted", effect.key, effect.seq);
}

/** What is wrong with the outcome of an effect that was dispatched (S2, R3, R6). */
export function outcomeFaults(state: RecallState, phase: EffectPhase, { contradicts, again }: Outcome): FindingCode[] {
  const faults: FindingCode[] = contradicts ? ["outcome-contradicted"] : [];
  if (again) faults.push("intent-key-reuse");
  if (state.noSideEffects !== undefined && phase !== "not-run") faults.push("no-side-effects-contradicted");
  return faults;
}

function ghost(state: RecallState, effect: TrackedEffect): void {
  state.findings.add("ghost-action", effect.key, effect.seq);
}

export interface DispatchContext {
  /** Its key stands for other arguments or for another effect. */
  readonly reused: boolean;
  /** What its key stands for is committed already. */
  readonly usedUp: boolean;
  /** The task was recalled, terminated or closed when the log stored it. */
  readonly stopped: boolean;
  /** A later delegation holds. */
  readonly superseded: boolean;
  /** It has no minted key although its runtime promised to enforce that. */
  readonly unfenced: boolean;
}

/**
 * What is wrong with a dispatch. One that the log stored after the epoch was stopped, or after its acknowledgement, is a
 * ghost action (R7). One key has one meaning and is good for one effect: the same one with other arguments, for
 * something else than it was minted for, or once more when it is used up is a finding (F7).
 */
export function dispatchFaults(state: RecallState, effect: TrackedEffect, context: DispatchContext): FindingCode[] {
  const faults: FindingCode[] = [];
  const afterManifest = state.acknowledged !== undefined && effect.dispatch > state.acknowledged.takenAt;
  const isGhost = context.stopped || context.superseded || afterManifest;
  if (isGhost) faults.push("ghost-action");
  if (state.noSideEffects !== undefined) faults.push("no-side-effects-contradicted");
  if (context.unfenced) faults.push("effect-unfenced");
  // That a ghost does over what was done is no more than that it is one.
  if (context.reused || (context.usedUp && !isGhost)) faults.push("intent-key-reuse");
  return faults;
}

export interface RecallContext {
  readonly effects: EffectLedger;
  /** The runtime sees effects: where it does not, that it knows of none says nothing (D11). */
  readonly seesEffects: boolean;
  /** The report has been folded: the agent has stopped of its own accord. */
  readonly reported: boolean;
  /** Events of the author wait for a predecessor, or were not kept, so what they dispatched is not known. */
  readonly gap: boolean;
}

/** The findings that stand for themselves, whatever the state of a recall. */
const alarming: ReadonlySet<FindingCode> = new Set<FindingCode>([
  "ghost-action",
  "intent-key-reuse",
  "effect-unfenced",
  "outcome-contradicted",
]);

/** Judges recall, termination and abandonment of one epoch, strictly (R1–R8, R11). Undefined if there is none. */
export function judgeRecall(state: RecallState, context: RecallContext): Judgement | undefined {
  if (state.order === undefined && !state.abandoned && state.findings.isEmpty) return undefined;
  const inFlight = context.effects.inFlight;
  const findings = state.findings.copy();
  const unknown = (): void => {
    for (const effect of inFlight.listed) findings.add("effects-unknown", effect.key, effect.seq);
  };
  const judged = (verdict: VerdictName, action: Action, final: boolean): Judgement => ({
    verdict,
    action,
    final,
    findings: findings.items,
    dropped: findings.dropped,
  });

  if (findings.items.some(({ code }) => alarming.has(code))) {
    unknown();
    return judged("GHOST_ACTION_DETECTED", "halt", true);
  }
  const contradicted = findings.has("manifest-mismatch") || findings.has("no-side-effects-contradicted");
  const draft = { findings, anyInFlight: inFlight.total > 0, contradicted, unknown, judged };
  if (state.abandoned) {
    findings.add("epoch-abandoned");
    return judgeEnded(context, draft, "EPOCH_ABANDONED");
  }
  const { order } = state;
  if (order === undefined) return undefined;
  if (order.kind === "recall") return judgeOpenRecall(state, context, draft);
  return judgeEnded(context, draft, draft.anyInFlight ? "TERMINATED_WITH_UNKNOWNS" : "TERMINATED");
}

interface Draft {
  readonly findings: FindingList;
  readonly anyInFlight: boolean;
  /** The agent's word on what it did and the log do not fit. */
  readonly contradicted: boolean;
  readonly unknown: () => void;
  readonly judged: (verdict: VerdictName, action: Action, final: boolean) => Judgement;
}

/** Nothing is waited for any more. Behind a gap there may be a dispatch that nobody knows of, so that never proceeds. */
function judgeEnded(context: RecallContext, draft: Draft, verdict: VerdictName): Judgement {
  const { findings, anyInFlight, contradicted, unknown, judged } = draft;
  if (context.gap) findings.add("log-gap");
  unknown();
  if (context.gap || contradicted) return judged(verdict, "escalate", true);
  const touched = verdict === "TERMINATED" ? context.effects.size > 0 : anyInFlight;
  const halts = anyInFlight && context.effects.inFlight.listed.some(({ inDoubt }) => inDoubt === "halt");
  return judged(verdict, halts ? doubtAction.halt : touched ? "reconcile" : "proceed", true);
}

/** The window comes first, always; no acknowledgement and no manifest never mean that the agent has stopped. */
function judgeOpenRecall(state: RecallState, context: RecallContext, draft: Draft): Judgement {
  const { findings, anyInFlight, contradicted, unknown, judged } = draft;
  const stopped = state.acknowledged !== undefined || context.reported;
  if (state.graceExpired) {
    if (!stopped) findings.add("acknowledgement-missing");
    if (context.gap) findings.add("log-gap");
    unknown();
    if (anyInFlight || !stopped || context.gap) {
      return judged("RECALL_COMPLETION_GRACE_EXPIRED", stopped && !context.gap ? "reconcile" : "escalate", true);
    }
  }
  if (!stopped) {
    if (state.acknowledgeExpired) findings.add("acknowledgement-missing");
    return judged("RECALL_ACTIVE", state.acknowledgeExpired ? "escalate" : "wait", false);
  }
  if (anyInFlight) return judged("RECALL_INFLIGHT_ACTIONS_PENDING", contradicted ? "escalate" : "wait", false);
  if (contradicted) return judged("RECALL_ACTIVE", "escalate", true);
  // What waits behind the gap may be a dispatch. It has until the window ends.
  if (context.gap) return judged("RECALL_ACTIVE", "wait", false);
  if (state.noSideEffects !== undefined && context.seesEffects)
    return judged("RECALL_NO_SIDE_EFFECTS_SAFE", "proceed", true);
  // Effects ended, or never began, as the agent says; only a probe or the orchestrator can confirm it (R6).
  return judged("RECALL_ACTIVE", "reconcile", true);
}
