import {
  CandorError,
  equalBytes,
  type Claim,
  type FinishReason,
  type LogEntry,
  type Report,
  type UpwardReport,
} from "@candor/contract";
import { proseDigest, unseal } from "@candor/ledger";
import type { PlannedAction } from "./minted-intents.js";

/** A report that the guard judged, its prose opened: what an agent wrote is to be read, never obeyed. */
export interface TaskReport {
  readonly task: string;
  readonly epoch: number;
  readonly agent: string;
  /** Hash of the report's event, as the verdict names it. */
  readonly hash: Uint8Array;
  readonly claim: Claim;
  readonly finishReason: FinishReason;
  /** The score that the report carries; the disclosure judge finds one that the log does not bear out. */
  readonly confidence: number;
  readonly selfReportedConfidence: number | undefined;
  readonly summary: string | undefined;
  readonly caveats: readonly string[];
  /** Undefined if the agent gave none. */
  readonly upward: UpwardReport | undefined;
  /** The planned actions, each with the digest that an approval names it by. */
  readonly planned: readonly PlannedAction[];
}

interface Wanted {
  readonly task: string;
  readonly epoch: number;
  readonly actor: string;
  readonly hash: Uint8Array;
  /** Data key of the run, 32 bytes. */
  readonly dataKey: Uint8Array;
}

/**
 * Opens the report that a verdict names. That it is the agent's own, the guard has checked: its hash is in the verdict.
 *
 * @param last the agent's last report on the task, as the log has it
 * @throws CandorError `not-found` if that is another one, `malformed`, `bad-seal`
 */
export function openReport(last: LogEntry | undefined, wanted: Wanted): TaskReport {
  const { task, epoch, actor, hash, dataKey } = wanted;
  if (last?.type !== "event" || last.kind !== "report" || !equalBytes(last.hash, hash)) {
    throw new CandorError(
      "not-found",
      `The last report of ${actor} on task ${task} is not the one that the guard judged: look at the verdicts, and decide by hand.`,
      { path: "report" },
    );
  }
  const report = last.payload;
  const open = (sealed: Uint8Array): string => unseal(sealed, dataKey);
  const planned = (report.upward?.planned ?? []).map(({ text, digest }) => ({ text: open(text), digest }));
  // A text that is not what its digest names can't be approved for what it seems to be.
  const isNamed = planned.every(({ text, digest }) => equalBytes(proseDigest(text, dataKey), digest));
  if (!isNamed) {
    throw new CandorError(
      "malformed",
      `A planned action in the report of ${actor} on task ${task} is not the one that its digest names: do not approve it.`,
      { path: "upward.planned" },
    );
  }
  return {
    task,
    epoch,
    agent: actor,
    hash,
    claim: report.claim,
    finishReason: report.finishReason,
    confidence: report.confidence.score,
    selfReportedConfidence: report.selfReportedConfidence,
    summary: report.summary && open(report.summary),
    caveats: report.caveats.map(open),
    upward: upwardOf(report, open, planned),
    planned,
  };
}

function upwardOf(
  { upward, selfReportedConfidence = 0 }: Report,
  open: (sealed: Uint8Array) => string,
  planned: readonly PlannedAction[],
): UpwardReport | undefined {
  if (upward === undefined) return undefined;
  const { status, escalationRequired, escalationReason, blockers, anchors, notes } = upward;
  return {
    status,
    confidence: selfReportedConfidence,
    blockers: blockers.map(open),
    "escalation-required": escalationRequired,
    "escalation-reason": escalationReason === undefined ? null : open(escalationReason),
    "evidence-anchors": anchors.map(open),
    "planned-actions-pending-approval": planned.map(({ text }) => text),
    notes: notes === undefined ? null : open(notes),
  };
}
