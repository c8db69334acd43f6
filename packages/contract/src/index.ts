export { a2aStateOf, a2aTable, a2aTaskStates, phaseOfA2a, taskPhases } from "./a2a.js";
export type { A2aTaskState, TaskPhase } from "./a2a.js";
export { concatBytes, domainPrefix, equalBytes, hex, utf8 } from "./bytes.js";
export { certificateMessage, certificateSchema, taskKeyMessage } from "./certificate.js";
export type { Certificate, TaskKeySubject } from "./certificate.js";
export { completionConfidence } from "./confidence.js";
export type { ConfidenceFacts } from "./confidence.js";
export { decodeBase64, decodeBase64Url, encodeBase64, encodeBase64Url } from "./base64.js";
export { decodeDelegationToken, encodeDelegationToken } from "./delegation-token.js";
export type { DelegationToken } from "./delegation-token.js";
export { sha256 } from "./digest.js";
export { CandorError, errorActions, errorCodes, exitCodes, isCandorError } from "./errors.js";
export type { CandorErrorOptions, ErrorAction, ErrorCode, ExitCode } from "./errors.js";
export type { AdmittedEvent, AdmittedOf, LogEntry, RefusedMessage, StoredMessage } from "./entry.js";
export { decodeBody, decodeFrame, encodeBody, encodeFrame, eventHash, requireSize, zeroHash } from "./event.js";
export type { EventBody, EventHeader, Frame } from "./event.js";
export {
  decodeEvidenceManifest,
  encodeEvidenceManifest,
  evidenceAddress,
  evidenceChunks,
  evidenceLimits,
  evidenceSubject,
  parseEvidenceSubject,
} from "./evidence.js";
export type { EvidenceAddress, EvidenceHandle, EvidenceManifest, ReportedEvidence } from "./evidence.js";
export { isId, isLabel, isTaskId, requireId } from "./identifiers.js";
export { cutText } from "./text.js";
export { memberKey, uuidOf } from "./intent-key.js";
export { jsonSchema, schemaNames } from "./json-schema.js";
export type { SchemaName } from "./json-schema.js";
export { laneOf } from "./lane.js";
export { silentLogger } from "./logger.js";
export type { Logger } from "./logger.js";
export { decodeValue, encodeCanonical } from "./msgpack.js";
export { decodePayload, encodePayload, payloadSchemas } from "./payloads/index.js";
export type { Payload } from "./payloads/index.js";
export type {
  ConfidenceReceipt,
  Coverage,
  ErrorLogReceipt,
  Receipts,
  Report,
  RetryManifest,
  Scope,
  Upward,
} from "./payloads/agent.js";
export { mostReportItems, receipts as receiptsSchema } from "./payloads/agent.js";
export type { Brief } from "./payloads/intents.js";
export {
  behaviourActions,
  behaviours,
  defaultFailurePolicy,
  failureVocabulary,
  planContexts,
  severities,
} from "./failure-policy.js";
export type { Behaviour, FailureCell, FailurePolicy, PlanContext, Severity } from "./failure-policy.js";
export { failureLimits, hopDeeds, mostLayers } from "./failure-link.js";
export type { FailureLayer, FailureStatement, Hop, HopDeed, PropagatedFailure, Stated } from "./failure-link.js";
export { defaultEvidenceRetentionMs, defaultPolicy, policyHash, policySchema } from "./policy.js";
export type { Policy, UpstreamRules } from "./policy.js";
export { policyFaults, readPolicy } from "./policy-check.js";
export type { PolicyFault, PolicyReading } from "./policy-check.js";
export { policyFaultTable } from "./policy-faults.js";
export type { PolicyFaultCode } from "./policy-faults.js";
export { reportReasonClasses } from "./report-refusals.js";
export type { ReportReasonClass } from "./report-refusals.js";
export {
  checkpointSubject,
  dataKeySubject,
  guardActor,
  intentKeySubject,
  intentSubject,
  intentWord,
  liveSubject,
  parseStoredSubject,
  parseVerdictSubject,
  publishedSubject,
  quarantineSubject,
  stateSubject,
  storedSubject,
  streams,
  subjectKind,
  verdictSubject,
} from "./subjects.js";
export type { EventAddress, StoredAddress, SubjectKind, VerdictAddress } from "./subjects.js";
export { needsSignature } from "./needs-signature.js";
export { errorLogReceiptOf, Tally, unseenRetryLayers } from "./tally.js";
export type { ErrorEntry, RetryEntry } from "./tally.js";
export { checkUpwardReport, reportFields, reportRoot, reportStatuses } from "./upward-report.js";
export type { ReportReading, ReportRefusal, ReportStatus, UpwardReport } from "./upward-report.js";
export {
  decodeQuarantineBody,
  decodeSigned,
  decodeVerdictBody,
  encodeQuarantineBody,
  encodeSigned,
  encodeVerdictBody,
  foldVersion,
  guardRecordMessage,
  verdictLimits,
} from "./verdict.js";
export type { Conflict, Finding, GuardRecord, QuarantineBody, Signed, VerdictBody } from "./verdict.js";
export {
  actions,
  agentKinds,
  auditCodes,
  claims,
  coverageStates,
  disclosureFindings,
  dispatchFindings,
  doubtPolicies,
  effectPhases,
  errorTypes,
  eventKinds,
  finalities,
  findingCodes,
  finishReasons,
  intentKinds,
  isolations,
  judges,
  kindTable,
  limits,
  modes,
  probeOutcomes,
  quarantineCodes,
  recallFindings,
  resultFindings,
  roles,
  runTask,
  scopeDimensions,
  scopeLevels,
  stricter,
  timerKinds,
  upstreamFindings,
  verdictNames,
  verifierKinds,
  wireVersion,
} from "./vocabulary.js";
export type {
  Action,
  AgentKind,
  AuditCode,
  Claim,
  CoverageState,
  DisclosureFindingCode,
  DispatchFindingCode,
  DoubtPolicy,
  EffectPhase,
  ErrorType,
  EventKind,
  Finality,
  FindingCode,
  FinishReason,
  IntentKind,
  Isolation,
  Judge,
  Mode,
  ProbeOutcome,
  QuarantineCode,
  ResultFindingCode,
  Role,
  ScopeDimension,
  ScopeLevel,
  TimerKind,
  VerdictName,
  VerifierKind,
} from "./vocabulary.js";
