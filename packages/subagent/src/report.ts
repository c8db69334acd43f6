import {
  CandorError,
  completionConfidence,
  encodeCanonical,
  errorLogReceiptOf,
  limits,
  unseenRetryLayers,
  utf8,
  type Claim,
  type Coverage,
  type EvidenceHandle,
  type FailureStatement,
  type FinishReason,
  type Payload,
  type Receipts,
  type Report,
  type ReportedEvidence,
  type RetryEntry,
  type RetryManifest,
  type Scope,
  type UpwardReport,
} from "@candor/contract";
import type { Prose } from "./prose.js";
import { readUpward, sealUpward } from "./upward.js";
import type { Moment } from "./event-draft.js";

/** What the callback says of its work. Everything else in a report is made by code. */
export interface TaskOutcome {
  readonly claim: Exclude<Claim, "none">;
  /** Prose for people. */
  readonly summary?: string;
  /** The model's own number in 0..1. It is kept apart, and no verdict uses it. */
  readonly selfReportedConfidence?: number;
  /** Evidence of an earlier epoch of this agent that the claim rests on; what the task itself put is listed anyway. */
  readonly evidence?: readonly EvidenceHandle[];
  /**
   * What the agent says upward (U1), in its object form; `parseUpwardReport` of `@candor/orchestrator/report` makes it of
   * text. Its confidence is the model's own number.
   */
  readonly upwardReport?: UpwardReport;
}

export interface ReportFacts {
  readonly claim: Claim;
  readonly finishReason: FinishReason;
  readonly coverage: Coverage;
  readonly effects: Report["effects"];
  readonly retries: readonly RetryEntry[];
  readonly scope: Scope;
  readonly keyTasks: readonly string[];
  readonly work: Report["work"];
  readonly upstreams: NonNullable<Report["upstreams"]>;
  readonly amplification: RetryManifest["amplification"];
  readonly summary: string | undefined;
  readonly caveats: readonly string[];
  readonly selfReportedConfidence: number | undefined;
  readonly evidence: readonly ReportedEvidence[];
  /** Bytes that the callback said it consumed. */
  readonly consumed: number;
  /** What it failed with, where it claims to have. */
  readonly failure: FailureStatement | undefined;
  readonly upwardReport: UpwardReport | undefined;
}

export interface MadeReport {
  readonly report: Report;
  readonly receipts: readonly Payload<"receipt">[];
}

const partBytes = 200 * 1024;
/** Bytes of a message that the envelope around a payload may take. */
const envelopeBytes = 1_024;
/** Room for prose, so that it never crowds out a receipt; longer texts are cut. */
const proseBytes = 24 * 1024;
const sealOverheadBytes = 40;

/** Cuts a text to so many UTF-8 bytes at most. */
function cut(text: string, bytes: number): string {
  if (utf8(text).length <= bytes) return text;
  let end = Math.min(text.length, bytes);
  while (end > 0 && utf8(text.slice(0, end)).length > bytes - 3) end = Math.floor(end * 0.9);
  return `${text.slice(0, end)}…`;
}

function sealedProse(facts: ReportFacts, prose: Prose): Pick<Report, "summary" | "caveats"> {
  const { summary, caveats } = facts;
  const texts = caveats.length + (summary === undefined ? 0 : 1);
  const share = Math.max(16, Math.floor(proseBytes / Math.max(1, texts)) - sealOverheadBytes);
  return {
    ...(summary === undefined ? {} : { summary: prose.seal(cut(summary, Math.max(share, 8 * 1024))) }),
    caveats: caveats.map((caveat) => prose.seal(cut(caveat, share))),
  };
}

/**
 * Makes a report (D1–D3): its receipts are taken from the chain as it stands at `moment`. Receipts that are too many
 * for one message go ahead of it in numbered parts, and the effects with them where they too are too many.
 *
 * @returns the report, and the `receipt` events to record before it with nothing between them
 */
export function makeReport(facts: ReportFacts, moment: Moment, prose: Prose): MadeReport {
  const { tally, head } = moment;
  const { coverage, keyTasks, caveats, retries, scope, selfReportedConfidence } = facts;
  const { failure, evidence, upwardReport, upstreams, amplification } = facts;
  const receipts: Receipts = {
    errorLog: errorLogReceiptOf(tally, head),
    retries: {
      entries: [...retries],
      unseen: unseenRetryLayers(scope),
      ...(amplification === undefined ? {} : { amplification }),
    },
  };
  const score = completionConfidence({
    errors: tally.errors(),
    retries: tally.retryCount,
    coverage,
    keyTasks,
    caveats: caveats.length,
  });
  const report: Report = {
    claim: facts.claim,
    finishReason: facts.finishReason,
    coverage,
    effects: facts.effects,
    receiptParts: 0,
    confidence: { formula: 1, score, caveats: caveats.length },
    work: facts.work,
    ...(upstreams.length === 0 ? {} : { upstreams }),
    ...(selfReportedConfidence === undefined ? {} : { selfReportedConfidence }),
    ...(failure === undefined ? {} : { failure }),
    ...sealedProse(facts, prose),
    ...(evidence.length === 0 ? {} : { evidence: [...evidence] }),
    ...sizesOf(facts),
    ...(upwardReport === undefined ? {} : { upward: sealUpward(upwardReport, prose) }),
  };
  const whole = { ...report, receipts };
  if (encodeCanonical(receipts).length <= limits.maxInlineReceiptBytes && fits(whole))
    return { report: whole, receipts: [] };
  if (fits(report)) return inParts(report, receipts);
  return inParts({ ...report, effects: [] }, { ...receipts, effects: facts.effects });
}

/** What is handed back is what the parent reads: summary and caveats, before anything is cut. Evidence it need not. */
function sizesOf({ consumed, summary = "", caveats }: ReportFacts): Pick<Report, "sizes"> {
  if (consumed === 0) return {};
  const result = [summary, ...caveats].reduce((bytes, text) => bytes + utf8(text).length, 0);
  return { sizes: { work: consumed, result } };
}

function fits(report: Report): boolean {
  return encodeCanonical(report).length + envelopeBytes <= limits.maxMessageBytes;
}

function inParts(report: Report, receipts: Receipts): MadeReport {
  const bytes = encodeCanonical(receipts);
  const parts = Math.ceil(bytes.length / partBytes);
  return {
    report: { ...report, receiptParts: parts },
    receipts: Array.from({ length: parts }, (_, i) => {
      return { part: i + 1, parts, content: bytes.slice(i * partBytes, (i + 1) * partBytes) };
    }),
  };
}

const claimWords = ["pass", "fail", "unsure"] as const;

/** What a callback returned, if it is an outcome. @throws CandorError `bad-argument` for one that does not fit, `too-large` */
export function readOutcome(value: unknown): TaskOutcome | undefined {
  if (typeof value !== "object" || value === null || !("claim" in value)) return undefined;
  const {
    claim,
    summary,
    upwardReport,
    evidence,
    selfReportedConfidence: own,
  } = value as Readonly<Record<string, unknown>>;
  const found = claimWords.find((word) => word === claim);
  const fits =
    found !== undefined &&
    (summary === undefined || typeof summary === "string") &&
    (own === undefined || (typeof own === "number" && own >= 0 && own <= 1)) &&
    (evidence === undefined || Array.isArray(evidence));
  if (!fits) {
    throw new CandorError(
      "bad-argument",
      `What the task returned is no outcome: claim must be ${claimWords.join(", ")}, summary a text, selfReportedConfidence a number in 0..1 and evidence a list of handles.`,
      { path: "claim" },
    );
  }
  const upward = upwardReport === undefined ? undefined : readUpward(upwardReport, found);
  const confidence = upward?.confidence ?? own;
  if (own !== undefined && confidence !== own) {
    throw new CandorError(
      "bad-argument",
      `What the task returned says two numbers of its own: selfReportedConfidence is ${own}, the upward report's is ${upward?.confidence ?? "none"}.`,
      { path: "upward-report.confidence" },
    );
  }
  return {
    claim: found,
    ...(upward === undefined ? {} : { upwardReport: upward }),
    ...(summary === undefined ? {} : { summary }),
    ...(confidence === undefined ? {} : { selfReportedConfidence: confidence }),
    ...(evidence === undefined ? {} : { evidence: evidence as readonly EvidenceHandle[] }),
  };
}
