/** Closed vocabularies of wire version 1. A new member is a new version for whoever must react to it. */

export const wireVersion = 1;

export const roles = ["agent", "orch", "probe", "guard"] as const;
export type Role = (typeof roles)[number];

export const intentKinds = [
  "run-open",
  "run-close",
  "key-added",
  "key-revoked",
  "delegate",
  "recall",
  "terminate",
  "approve",
  "close",
] as const;
export type IntentKind = (typeof intentKinds)[number];

export const agentKinds = [
  "accept",
  "error",
  "retry",
  "effect",
  "acknowledge",
  "no-side-effects",
  "receipt",
  "report",
] as const;
export type AgentKind = (typeof agentKinds)[number];

export const eventKinds = [...intentKinds, ...agentKinds, "probe", "timer", "collected"] as const;
export type EventKind = (typeof eventKinds)[number];

interface KindRow {
  readonly role: Role;
  /** Rows marked S: the event must carry a signature of its own. */
  readonly signed: boolean;
  /** Lives on task `_run`, the run itself. */
  readonly ofRun: boolean;
}

export const kindTable = {
  "run-open": { role: "orch", signed: true, ofRun: true },
  "run-close": { role: "orch", signed: true, ofRun: true },
  "key-added": { role: "orch", signed: true, ofRun: true },
  "key-revoked": { role: "orch", signed: true, ofRun: true },
  delegate: { role: "orch", signed: true, ofRun: false },
  recall: { role: "orch", signed: true, ofRun: false },
  terminate: { role: "orch", signed: true, ofRun: false },
  approve: { role: "orch", signed: true, ofRun: false },
  close: { role: "orch", signed: true, ofRun: false },
  accept: { role: "agent", signed: true, ofRun: false },
  error: { role: "agent", signed: false, ofRun: false },
  retry: { role: "agent", signed: false, ofRun: false },
  effect: { role: "agent", signed: false, ofRun: false },
  acknowledge: { role: "agent", signed: true, ofRun: false },
  "no-side-effects": { role: "agent", signed: true, ofRun: false },
  receipt: { role: "agent", signed: false, ofRun: false },
  report: { role: "agent", signed: true, ofRun: false },
  probe: { role: "probe", signed: true, ofRun: false },
  timer: { role: "guard", signed: false, ofRun: false },
  collected: { role: "guard", signed: false, ofRun: true },
} as const satisfies Record<EventKind, KindRow>;

/** The receiver's decision space: a type exists only because some receiver acts differently on it. */
export const errorTypes = [
  "transient",
  "unavailable",
  "invalid-input",
  "denied",
  "conflict",
  "over-budget",
  "partial",
  "in-doubt",
  "defect",
  "cancelled",
] as const;
export type ErrorType = (typeof errorTypes)[number];

export const finalities = ["recoverable", "exhausted", "not-mine"] as const;
export type Finality = (typeof finalities)[number];

export const effectPhases = ["dispatched", "committed", "failed", "not-run", "in-doubt", "compensated"] as const;
export type EffectPhase = (typeof effectPhases)[number];

/**
 * What is done about an effect of which nobody knows whether it happened: have the downstream, which honours the key, do it
 * again; look it up there; or do nothing more until somebody has decided.
 */
export const doubtPolicies = ["reissue", "probe", "halt"] as const;
export type DoubtPolicy = (typeof doubtPolicies)[number];

export const claims = ["pass", "fail", "unsure", "none"] as const;
export type Claim = (typeof claims)[number];

export const coverageStates = ["done", "partial", "skipped", "failed"] as const;
export type CoverageState = (typeof coverageStates)[number];

export const finishReasons = ["completed", "error", "recalled", "terminated", "missing"] as const;
export type FinishReason = (typeof finishReasons)[number];

export const scopeDimensions = [
  "toolCalls",
  "toolErrors",
  "modelAttempts",
  "transportAttempts",
  "effects",
  "abort",
  "children",
] as const;
export type ScopeDimension = (typeof scopeDimensions)[number];

export const scopeLevels = ["enforced", "observed", "unseen"] as const;
export type ScopeLevel = (typeof scopeLevels)[number];

export const modes = ["observe", "enforce"] as const;
export type Mode = (typeof modes)[number];

export const isolations = ["separate-process", "shared-process"] as const;
export type Isolation = (typeof isolations)[number];

/** `evidence`: when the guard looks whether what a report points to is stored; the event says what it found. */
export const timerKinds = ["settle", "acknowledge", "grace", "evidence"] as const;
export type TimerKind = (typeof timerKinds)[number];

export const probeOutcomes = ["confirmed", "contradicted", "inconclusive"] as const;
export type ProbeOutcome = (typeof probeOutcomes)[number];

/** Deterministic checks of a task's work: there is no third kind, and no model is one (U3, U5). */
export const verifierKinds = ["command", "probe"] as const;
export type VerifierKind = (typeof verifierKinds)[number];

export const judges = ["disclosure", "recall", "dispatch", "upstream", "intent", "result"] as const;
export type Judge = (typeof judges)[number];

/** In order of strictness, mildest first. */
export const actions = [
  "proceed",
  "wait",
  "verify",
  "probe",
  "approve",
  "redispatch",
  "reconcile",
  "escalate",
  "halt",
] as const;
export type Action = (typeof actions)[number];

/** The stricter of two actions. */
export function stricter(a: Action, b: Action): Action {
  return actions.indexOf(a) >= actions.indexOf(b) ? a : b;
}

export const verdictNames = [
  "FULL_DISCLOSURE_VERIFIED",
  "PARTIAL_DISCLOSURE_RISK",
  "CONCEALMENT_DETECTED",
  "RECALL_ACTIVE",
  "RECALL_INFLIGHT_ACTIONS_PENDING",
  "RECALL_COMPLETION_GRACE_EXPIRED",
  "RECALL_NO_SIDE_EFFECTS_SAFE",
  "GHOST_ACTION_DETECTED",
  "TERMINATED",
  "TERMINATED_WITH_UNKNOWNS",
  "EPOCH_ABANDONED",
  "REPORT_UNVERIFIED",
  "REPORT_VERIFIED",
  "REPORT_APPROVED",
  "REPORT_ESCALATED",
  "APPROVAL_PENDING",
  "REDISPATCH_ALLOWED",
  "UPSTREAM_DEGRADED",
  "BLAME_UNCORROBORATED",
  "BLAME_CORROBORATED",
  "INTENT_ACCEPTED",
  "INTENT_REJECTED",
  "RESULTS_CONFLICT",
  "RESULTS_CONSISTENT",
  "UNDER_DECOMPOSED",
] as const;
export type VerdictName = (typeof verdictNames)[number];

export const disclosureFindings = [
  "report-missing",
  "receipt-mismatch",
  "log-gap",
  "log-fork",
  "chain-broken",
  "tally-mismatch",
  "retry-undisclosed",
  "effect-undeclared",
  "key-task-unreported",
  "unrecovered-under-success",
  "failure-turned-success",
  "no-work",
  "confidence-mismatch",
  "probe-missing",
  "probe-contradicts",
  "probe-not-independent",
  "scope-unseen",
  "dangling-evidence",
  "finish-reason-missing",
  "child-without-report",
  "failure-mismatch",
  "hop-dropped",
  "hop-rewritten",
  "hop-reordered",
] as const;

export type DisclosureFindingCode = (typeof disclosureFindings)[number];

export const recallFindings = [
  "intent-stale",
  "intent-repeated",
  "intent-skipped",
  "intent-expired",
  "intent-foreign",
  "intent-contradictory",
  "grace-excessive",
  "acknowledgement-missing",
  "acknowledgement-late",
  "manifest-mismatch",
  "no-side-effects-contradicted",
  "ghost-action",
  "effects-unknown",
  "epoch-abandoned",
  "intent-key-reuse",
  "effect-unfenced",
  "intent-key-unread",
  "outcome-contradicted",
] as const;

/** Of results beside each other, and of a result beside its work (T4, T5). */
export const resultFindings = ["results-conflict", "under-decomposed"] as const;

export type ResultFindingCode = (typeof resultFindings)[number];

/** Of the judge `dispatch`, and of intents that go beyond the terms of their task (U2–U4). */
export const dispatchFindings = [
  "upward-report-missing",
  "claim-differs",
  "verifier-missing",
  "verifier-failed",
  "mechanism-unproven",
  "budget-spent",
  "escalation-requested",
  "authority-denied",
  "task-blocked",
  "decision-unclear",
  "redispatch-over-budget",
  "terms-widened",
  "authority-widened",
  "accepted-unverified",
  "approval-unfounded",
  "action-unapproved",
] as const;
export type DispatchFindingCode = (typeof dispatchFindings)[number];

export const upstreamFindings = ["upstream-degraded", "blame-uncorroborated"] as const;

export const findingCodes = [
  ...disclosureFindings,
  ...recallFindings,
  ...resultFindings,
  ...dispatchFindings,
  ...upstreamFindings,
] as const;
export type FindingCode = (typeof findingCodes)[number];

export const quarantineCodes = [
  "malformed",
  "non-canonical",
  "too-large",
  "unknown-version",
  "unknown-kind",
  "unknown-type",
  "subject-mismatch",
  "unsigned",
  "bad-signature",
  "untrusted-key",
  "no-delegation",
  "wrong-epoch",
] as const;
export type QuarantineCode = (typeof quarantineCodes)[number];

export const auditCodes = [
  "log-rolled-back",
  "log-truncated",
  "log-altered",
  "guard-divergence",
  "verdict-missing",
  "verdict-differs",
] as const;
export type AuditCode = (typeof auditCodes)[number];

/** Limits of the wire. Above `maxMessageBytes` the server refuses a message. */
export const limits = {
  maxMessageBytes: 256 * 1024,
  maxDepth: 16,
  maxIdLength: 64,
  /** Receipts above this many bytes travel in numbered `receipt` events before the report. */
  maxInlineReceiptBytes: 200 * 1024,
} as const;

/** The task that is the run itself. */
export const runTask = "_run";
