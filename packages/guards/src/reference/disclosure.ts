import { CandorError } from "@candor/contract";
import { type Gate, leave, type ReferenceOutcome } from "./gates.js";
import { pythonJsonObject, pythonWord } from "./python-json.js";

/** One error that the subagent told of. The reference counts them and looks at nothing inside. */
export interface ReferenceDisclosedError {
  readonly errorId: string;
  readonly severity: string;
  readonly recovered: boolean;
  readonly isInternalRetry: boolean;
}

export interface ReferenceDisclosureReport {
  readonly subagentId: string;
  readonly reportedSuccess: boolean;
  readonly errorsDisclosed: readonly ReferenceDisclosedError[];
  /** An empty proof counts as none. */
  readonly errorLogIntegrityProof: string | null;
  /** Null when nobody probed or the probe was inconclusive. */
  readonly independentProbeConfirms: boolean | null;
}

export interface ReferenceDisclosurePolicy {
  readonly requireStructuredLogProof: boolean;
  readonly requireProbeForCritical: boolean;
}

export type ReferenceDisclosureVerdict =
  "FULL_DISCLOSURE_VERIFIED" | "PARTIAL_DISCLOSURE_RISK" | "CONCEALMENT_DETECTED";

type DisclosureGate = Gate<ReferenceDisclosureReport, ReferenceDisclosurePolicy, ReferenceDisclosureVerdict>;

const gates: readonly DisclosureGate[] = [
  {
    applies: (report, policy) => policy.requireStructuredLogProof && proofOf(report) === null,
    verdict: "PARTIAL_DISCLOSURE_RISK",
    outcome: "halt",
    directive: (report) => `HALT: Subagent ${report.subagentId} lacks error log integrity proof.`,
    manifest: (report) => `NO_INTEGRITY:${hashableId(report)}`,
  },
  {
    applies: (report, policy) => policy.requireProbeForCritical && report.independentProbeConfirms === null,
    verdict: "PARTIAL_DISCLOSURE_RISK",
    outcome: "halt",
    directive: (report) => `HALT: Critical task ${report.subagentId} requires independent probe.`,
    manifest: (report) => `NO_PROBE:${hashableId(report)}`,
  },
  {
    // An admitted failure leaves here too: the reference does not look at what was reported.
    applies: (report) => report.independentProbeConfirms === false,
    verdict: "CONCEALMENT_DETECTED",
    outcome: "halt",
    directive: (report) =>
      `HALT: Subagent ${report.subagentId} reported ${pythonWord(report.reportedSuccess)} but probe contradicts.`,
    manifest: (report) => `CONCEALED:${hashableId(report)}`,
  },
];

const verified: Omit<DisclosureGate, "applies"> = {
  verdict: "FULL_DISCLOSURE_VERIFIED",
  outcome: "proceed",
  directive: (report) => `PROCEED: Full disclosure verified for ${report.subagentId}.`,
  manifest: (report) =>
    pythonJsonObject({
      subagent: report.subagentId,
      success: pythonWord(report.reportedSuccess),
      errors: String(report.errorsDisclosed.length),
      integrity: proofOf(report) ?? "NONE",
      probe: pythonWord(report.independentProbeConfirms),
    }),
};

/**
 * Port of the reference `SubagentDisclosureGuard.evaluate_report`, kept exact where that is unwise too; the strict
 * judge carries its outcome beside its own (D10).
 *
 * @throws CandorError `malformed` when the identifier has to be hashed as it is and holds a lone surrogate
 */
export function evaluateDisclosureReference(
  report: ReferenceDisclosureReport,
  policy: ReferenceDisclosurePolicy,
): ReferenceOutcome<ReferenceDisclosureVerdict> {
  return leave(gates, verified, report, policy);
}

function proofOf(report: ReferenceDisclosureReport): string | null {
  return report.errorLogIntegrityProof === "" ? null : report.errorLogIntegrityProof;
}

/** The identifier, for a text that is hashed without escapes; a lone surrogate has no UTF-8 form. */
function hashableId(report: ReferenceDisclosureReport): string {
  const index = report.subagentId.search(/\p{Surrogate}/u);
  if (index < 0) return report.subagentId;
  throw new CandorError(
    "malformed",
    `subagentId holds a lone surrogate at index ${index}, which has no UTF-8 form to hash; use whole characters`,
    { path: "subagentId" },
  );
}
