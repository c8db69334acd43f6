export { inactionableReasons, isActionable } from "./actionable.js";
export type { Actionable, ActionableInput, InactionableReason } from "./actionable.js";
export { nextAuthority } from "./authority.js";
export type { AuthorityDecision, PersonApproval } from "./authority.js";
export { calibrate, calibrationBins } from "./calibration.js";
export type { Calibration, ConfidenceSample, Reliability, ReliabilityBin } from "./calibration.js";
export { calibrationSamples } from "./calibration-samples.js";
export type { CalibrationSample } from "./calibration-samples.js";
export { decision } from "./decision.js";
export type { Decision } from "./decision.js";
export { dispatch } from "./dispatch.js";
export type {
  DispatchBrief,
  DispatchDecision,
  EscalateDecision,
  EscalationCause,
  RedispatchDecision,
  SurfaceDecision,
  VerifyDecision,
} from "./dispatch.js";
export { dispatchActions } from "./dispatch-rows.js";
export type { DispatchAction, DispatchRow, VerifyAction } from "./dispatch-rows.js";
export { enoughConfidence } from "./enough-confidence.js";
export { explain, explainedCodes } from "./explain.js";
export type { Explained, ExplanationFamily } from "./explain.js";
export { intentTransitions } from "./intent-transitions.js";
export type { Standing, TaskIntentKind, Transition } from "./intent-transitions.js";
export { decideFailure, decideFailures } from "./failure-decision.js";
export type { FailureDecision, FailureFacts } from "./failure-decision.js";
export { isNeeded, neededTasks } from "./history-need.js";
export type { HistoryNeed } from "./history-need.js";
export { LaneFold } from "./lane-fold.js";
export type { LaneFoldOptions } from "./lane-fold.js";
export type { EvidenceLookUp, Output, TimerRequest, Verify } from "./output.js";
export { quotedData } from "./quoted-data.js";
export type { QuotedData } from "./quoted-data.js";
export { concerns } from "./result-board.js";
export { RetryPermit } from "./retry-permit.js";
export type { RetryBudget } from "./retry-permit.js";
export { closingOf } from "./run-closing.js";
export type { RunClosing } from "./run-closing.js";
export { decomposition, nearlyAsLarge, shouldSpawn, spawnReasons } from "./spawn.js";
export type { Decomposition, SpawnDecision, SpawnEstimate, SpawnReason, WorkSizes } from "./spawn.js";
export type { TaskView } from "./task-view.js";
export { exitOutcome } from "./dispatch-state.js";
export type { UpstreamFigures } from "./upstream-book.js";
export { upstreamTotals } from "./upstream-view.js";
export type { UpstreamTotals } from "./upstream-view.js";
export { acceptance, verifierDigest } from "./verifier.js";
export type { Acceptance, Verification, Verifier, VerifierOutcome } from "./verifier.js";
export { undecidedExplanations } from "./explain/undecided.js";
