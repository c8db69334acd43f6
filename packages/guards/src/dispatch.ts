import type { ReportReading, ReportRefusal, UpwardReport } from "@candor/contract";
import { type DispatchRow, matchRows, type VerifyAction } from "./dispatch-rows.js";
import { enoughConfidence } from "./enough-confidence.js";
import { type QuotedData, quotedData } from "./quoted-data.js";
import { isWhole, RetryPermit, type RetryBudget } from "./retry-permit.js";
import type { Verifier } from "./verifier.js";

/** What the orchestrator knows of the task that the report is about. Null is for what it does not know. */
export interface DispatchBrief {
  /** Whether the work brought in a mechanism that is to be shown to make the difference. */
  readonly newMechanism: boolean | null;
  /** The deterministic check of the work; null if there is none. */
  readonly verifier: Verifier | null;
}

/** Why a report is escalated. */
export type EscalationCause =
  "the-row" | "several-rows" | "no-row" | "unknown-context" | "report-refused" | "no-verifier";

interface OfReport {
  /** Actions that wait for an approval intent before anything of them runs, whatever else is done (U4). */
  readonly awaitingApproval: readonly string[];
  /** For people. */
  readonly sentence: string;
}

export interface VerifyDecision extends OfReport {
  readonly action: VerifyAction;
  readonly verifier: Verifier;
}

/** Holds no brief and no authority: both stay as they are; only the blockers are added, as quoted data. */
export interface RedispatchDecision extends OfReport {
  readonly action: "redispatch-with-blockers";
  readonly retry: RetryPermit;
  readonly blockers: QuotedData;
}

export interface SurfaceDecision extends OfReport {
  readonly action: "surface-blocker";
  readonly blockers: readonly string[];
}

export interface EscalateDecision extends OfReport {
  readonly action: "escalate";
  readonly cause: EscalationCause;
  /** The rows that apply, or may apply where something is unknown. */
  readonly rows: readonly DispatchRow[];
  readonly refusal: ReportRefusal | null;
}

export type DispatchDecision = VerifyDecision | RedispatchDecision | SurfaceDecision | EscalateDecision;

/**
 * What to do about a report (U2): total, one action for every input. Where two rows of the table apply, or none, where
 * something that a row depends on is unknown, or where the report was refused, it escalates.
 *
 * What U3 refuses has no value: no action asks a model to review, a re-dispatch holds a permit that only an unspent
 * budget gives and no authority, and nothing is accepted but by `acceptance` with a verifier's outcome.
 *
 * @param reading what `parseUpwardReport` or `checkUpwardReport` returned
 * @param budget retries of the delegation, counted by the orchestrator; the report has no say in it
 */
export function dispatch(reading: ReportReading, brief: DispatchBrief, budget: RetryBudget): DispatchDecision {
  if (!reading.ok) return refusedReport(reading.refusal);
  const { report } = reading;
  const { matched, open } = matchRows({
    status: report.status,
    isConfident: report.confidence >= enoughConfidence,
    isFlagged: report["escalation-required"],
    hasBlockers: report.blockers.length > 0,
    retryLeft: isKnown(budget) ? RetryPermit.within(budget) !== undefined : undefined,
    newMechanism: brief.newMechanism ?? undefined,
  });
  const [row] = matched;
  if (open.length > 0) return escalated(report, "unknown-context", [...matched, ...open]);
  if (row === undefined) return escalated(report, "no-row", []);
  if (matched.length > 1) return escalated(report, "several-rows", matched);
  return decided(report, row, brief, budget);
}

function decided(report: UpwardReport, row: DispatchRow, brief: DispatchBrief, budget: RetryBudget): DispatchDecision {
  const awaitingApproval = report["planned-actions-pending-approval"];
  const { blockers } = report;
  switch (row.action) {
    case "verify-accept-on-pass":
    case "verify-no-reprompt":
    case "verify-and-ablate": {
      const { verifier } = brief;
      if (verifier === null) return escalated(report, "no-verifier", [row]);
      return { action: row.action, verifier, awaitingApproval, sentence: row.sentence };
    }
    case "redispatch-with-blockers": {
      const retry = RetryPermit.within(budget);
      if (retry === undefined) return escalated(report, "no-row", [row]);
      return { action: row.action, retry, blockers: quotedData(blockers), awaitingApproval, sentence: row.sentence };
    }
    case "surface-blocker":
      return { action: row.action, blockers, awaitingApproval, sentence: row.sentence };
    case "escalate":
      return escalated(report, "the-row", [row]);
  }
}

const sentences = {
  "the-row": "A person has to decide",
  "several-rows": "More than one row of the table applies, so a person has to decide",
  "no-row": "No row of the table applies, so a person has to decide",
  "unknown-context": "Retries or mechanism are not known, so a person has to decide",
  "report-refused": "The report was refused, so a person has to decide",
  "no-verifier": "There is no deterministic verifier, so a person has to decide",
} as const satisfies Record<EscalationCause, string>;

function escalated(report: UpwardReport, cause: EscalationCause, rows: readonly DispatchRow[]): EscalateDecision {
  const because = rows.map((row) => row.sentence).join("; ");
  return {
    action: "escalate",
    cause,
    rows,
    refusal: null,
    awaitingApproval: report["planned-actions-pending-approval"],
    sentence: because === "" ? `${sentences[cause]}.` : `${sentences[cause]}: ${because}.`,
  };
}

function refusedReport(refusal: ReportRefusal): EscalateDecision {
  const cause = "report-refused";
  const sentence = `${sentences[cause]}: ${refusal.sentence}.`;
  return { action: "escalate", cause, rows: [], refusal, awaitingApproval: [], sentence };
}

function isKnown({ retriesAllowed, retriesUsed }: RetryBudget): boolean {
  return isWhole(retriesAllowed) && isWhole(retriesUsed);
}
