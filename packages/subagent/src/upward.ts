import {
  CandorError,
  checkUpwardReport,
  mostReportItems,
  utf8,
  type Claim,
  type ReportStatus,
  type Upward,
  type UpwardReport,
} from "@candor/contract";
import type { Prose } from "./prose.js";

/** Bytes that all prose of a report may take: more is no report, and it would crowd out the receipts. */
const mostBytes = 32 * 1024;

/** What may be claimed beside each status; the guard looks at both. */
const claimsOf = {
  completed: ["pass", "unsure"],
  failed: ["fail", "unsure"],
  blocked: ["fail", "unsure"],
  "denied-by-authority": ["fail", "unsure"],
} as const satisfies Record<ReportStatus, readonly Claim[]>;

const lists = ["blockers", "evidence-anchors", "planned-actions-pending-approval"] as const;

/**
 * Checks an upward report in its object form (U1). Nothing of the value is run, and nothing of it is sent if it is refused.
 *
 * @throws CandorError `bad-argument` with the field's path and the class of the refusal in its details, `too-large`
 */
export function readUpward(value: unknown, claim: Claim): UpwardReport {
  const reading = checkUpwardReport(value);
  if (!reading.ok) {
    const { path, reasonClass, sentence } = reading.refusal;
    throw refusal("bad-argument", path, sentence, reasonClass);
  }
  const { report } = reading;
  const allowed: readonly Claim[] = claimsOf[report.status];
  if (!allowed.includes(claim))
    throw refusal(
      "bad-argument",
      "upward-report.status",
      `${report.status} does not go with the claim ${claim}`,
      "claim",
    );
  for (const name of lists)
    if (report[name].length > mostReportItems)
      throw refusal("too-large", `upward-report.${name}`, `it has more than ${mostReportItems} items`, "too-many");
  const prose = [...lists.flatMap((name) => report[name]), report["escalation-reason"] ?? "", report.notes ?? ""];
  if (prose.reduce((bytes, text) => bytes + utf8(text).length, 0) > mostBytes)
    throw refusal("too-large", "upward-report", `its texts have more than ${mostBytes} bytes`, "too-long");
  return report;
}

function refusal(code: "bad-argument" | "too-large", path: string, sentence: string, reasonClass: string): CandorError {
  return new CandorError(code, `The upward report is refused at ${path}: ${sentence}.`, {
    path,
    details: { reasonClass },
  });
}

/** The report as it goes onto the wire. Its confidence is the report's self-reported one. */
export function sealUpward(report: UpwardReport, prose: Prose): Upward {
  const { status, notes, blockers } = report;
  const reason = report["escalation-reason"];
  const seal = (text: string): Uint8Array => prose.seal(text);
  return {
    status,
    escalationRequired: report["escalation-required"],
    ...(reason === null ? {} : { escalationReason: seal(reason) }),
    blockers: blockers.map(seal),
    anchors: report["evidence-anchors"].map(seal),
    planned: report["planned-actions-pending-approval"].map((text) => prose.named(text)),
    ...(notes === null ? {} : { notes: seal(notes) }),
  };
}
