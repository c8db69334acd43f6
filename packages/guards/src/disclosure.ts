import {
  completionConfidence,
  errorLogReceiptOf,
  disclosureFindings,
  hex,
  stricter,
  Tally,
  type Action,
  type AdmittedEvent,
  type AdmittedOf,
  type DisclosureFindingCode,
  type ErrorLogReceipt,
  type FindingCode,
  type ProbeOutcome,
  type Report,
} from "@candor/contract";
import type { ChainFault } from "./author-chain.js";
import type { EffectLedger, TrackedEffect } from "./effect-ledger.js";
import { FindingList, type Judgement } from "./judgement.js";
import { neededDimensions, none, scopeOf, type KeptBrief, type KeptScope } from "./kept.js";
import { compareEffects, compareReceipts, joinReceipts } from "./receipt-check.js";

/** What is kept of a report: open tasks are many, and prose and receipts are long. */
export type KeptReport = Pick<Report, "claim" | "finishReason" | "coverage" | "confidence" | "work"> & {
  /** Author's number of the report. */
  readonly at: number;
  readonly caveats: number;
};

export function keepReport({ event, payload }: AdmittedOf<"report">): KeptReport {
  const { claim, finishReason, coverage, confidence, work, caveats } = payload;
  return { at: event.seq, claim, finishReason, coverage, confidence, work, caveats: caveats.length };
}

/** What most epochs never have. */
interface Oddities {
  /** The first forks and broken links, up to `mostFaults`. */
  readonly faults: { readonly fault: ChainFault; readonly seq: number }[];
  faultCount: number;
  /** The receipt that the log itself gives, frozen at the first `receipt` event. */
  recomputed: ErrorLogReceipt | undefined;
  receiptParts: readonly Uint8Array[];
  /** Log sequence of a second report or of an event that can't follow one. */
  afterReport: { readonly seq: number; readonly turned: boolean } | undefined;
  /** The last receipt of each prober; of one that is not independent, the first. */
  readonly probes: SeenProbe[];
  overflowed: boolean;
  /** The number whose absence outlasted a window for late arrival: from then on it is a finding. */
  lostAt: number | undefined;
}

export interface SeenProbe {
  readonly prober: string;
  readonly outcome: ProbeOutcome;
  readonly independent: boolean;
  readonly seq: number;
}

/** One fork says what a thousand say, and the number is the agent's choice. */
const mostFaults = 100;

/** What the events of one epoch say about disclosure. Everything here comes from the log. */
export interface DisclosureState {
  readonly tally: Tally;
  report: KeptReport | undefined;
  /** What the receipts of the report and the log say differently; compared once, when the report is in order. */
  receiptFindings: FindingList;
  /** Hex of the receipt's head, if the log bears the receipt out: the reference's integrity proof. */
  proof: string | undefined;
  /** Read it as it is; write to `ownOddities`. */
  odd: Oddities;
}

function initialOddities(): Oddities {
  return {
    faults: [],
    faultCount: 0,
    recomputed: undefined,
    receiptParts: none,
    afterReport: undefined,
    probes: [],
    overflowed: false,
    lostAt: undefined,
  };
}

const nothingOdd = initialOddities();
const noFindings = new FindingList();

export function initialDisclosure(): DisclosureState {
  return { tally: new Tally(), report: undefined, receiptFindings: noFindings, proof: undefined, odd: nothingOdd };
}

/** The epoch's own, made when there first is one. */
export function ownOddities(state: DisclosureState): Oddities {
  if (state.odd === nothingOdd) state.odd = initialOddities();
  return state.odd;
}

/** A fork or a broken link. Returns whether it says anything new. */
export function foldFault(state: DisclosureState, fault: ChainFault, seq: number): boolean {
  const odd = ownOddities(state);
  odd.faultCount += 1;
  if (odd.faults.length >= mostFaults && odd.faults.some((known) => known.fault === fault)) return false;
  odd.faults.push({ fault, seq });
  return true;
}

/** A probe receipt that counts. */
export function foldSeenProbe(state: DisclosureState, seen: SeenProbe): void {
  const { probes } = ownOddities(state);
  const at = probes.findIndex(({ prober, independent }) => prober === seen.prober && independent === seen.independent);
  if (at < 0) probes.push(seen);
  else if (seen.independent) probes[at] = seen;
}

/**
 * Folds one event of the agent, in chain order.
 * @param scope what the runtime said it can see
 */
export function foldDisclosure(
  state: DisclosureState,
  entry: AdmittedEvent,
  scope: KeptScope | undefined,
  effects: EffectLedger,
): void {
  if (state.report !== undefined) {
    foldAfterReport(state, entry);
    return;
  }
  if (entry.kind === "receipt") foldReceiptPart(state, entry);
  if (entry.kind === "report") foldReport(state, entry, scope, effects);
  else if (entry.kind !== "receipt") state.tally.add(entry.event.seq, entry.kind, entry.payload);
}

/** After the report only outcomes of effects may follow: they were under way. Terminal facts are not overwritten. */
function foldAfterReport(state: DisclosureState, entry: AdmittedEvent): void {
  const allowed = (entry.kind === "effect" && entry.payload.phase !== "dispatched") || entry.kind === "acknowledge";
  if (allowed || entry.kind === "no-side-effects" || state.odd.afterReport !== undefined) return;
  const turned = entry.kind === "report" && entry.payload.claim === "pass" && state.report?.claim !== "pass";
  ownOddities(state).afterReport = { seq: entry.seq, turned };
}

function foldReceiptPart(state: DisclosureState, entry: AdmittedOf<"receipt">): void {
  const odd = ownOddities(state);
  odd.recomputed ??= errorLogReceiptOf(state.tally, entry.event.prev);
  if (entry.payload.part === odd.receiptParts.length + 1)
    odd.receiptParts = [...odd.receiptParts, entry.payload.content];
}

function foldReport(
  state: DisclosureState,
  entry: AdmittedOf<"report">,
  scope: KeptScope | undefined,
  effects: EffectLedger,
): void {
  const report = entry.payload;
  const findings = new FindingList();
  const recomputed = state.odd.recomputed ?? errorLogReceiptOf(state.tally, entry.event.prev);
  const receipts = report.receipts ?? joinReceipts(state.odd.receiptParts, report.receiptParts);
  compareReceipts(receipts, recomputed, state.tally, scope && scopeOf(scope), (code, about) => {
    findings.add(code, about, entry.seq);
  });
  compareEffects(receipts?.effects ?? report.effects, effects.all, (code, key, seq = entry.seq) => {
    findings.add(code, key, seq);
  });
  state.report = keepReport(entry);
  state.receiptFindings = findings;
  state.proof = findings.has("receipt-mismatch") ? undefined : hex(recomputed.head);
  if (state.odd !== nothingOdd) Object.assign(state.odd, { recomputed: undefined, receiptParts: none });
}

export interface DisclosureContext {
  readonly brief: KeptBrief;
  readonly scope: KeptScope | undefined;
  readonly effects: EffectLedger;
  /** Lowest number still missing while later ones wait. */
  readonly gap: number | undefined;
  /** The settle deadline has passed, or the task is closed. */
  readonly settled: boolean;
  /** Nothing has a window for late arrival any more: the task is closed, or a later epoch holds. */
  readonly over: boolean;
  /** Effects under keys that nobody minted, from a runtime that does not enforce them: recorded, and no more (F7). */
  readonly unfenced: readonly TrackedEffect[];
  /** A report that waits behind the gap. */
  readonly waitingReport: KeptReport | undefined;
}

/** Findings that mean something was hidden; every other one means that something can't be known. */
const concealing: ReadonlySet<DisclosureFindingCode> = new Set<DisclosureFindingCode>([
  "receipt-mismatch",
  "log-gap",
  "log-fork",
  "chain-broken",
  "tally-mismatch",
  "retry-undisclosed",
  "effect-undeclared",
  "unrecovered-under-success",
  "failure-turned-success",
  "no-work",
  "confidence-mismatch",
  "probe-contradicts",
  "dangling-evidence",
]);

const ofDisclosure: ReadonlySet<string> = new Set(disclosureFindings);

/** A finding of another judge, such as an effect that is only recorded, changes nothing here. */
function isOfDisclosure(code: FindingCode): code is DisclosureFindingCode {
  return ofDisclosure.has(code);
}

/** What the orchestrator does about a finding that conceals nothing; the strictest counts. */
const riskActions: Partial<Record<DisclosureFindingCode, Action>> = {
  "report-missing": "escalate",
  "key-task-unreported": "verify",
  "probe-missing": "probe",
  "probe-not-independent": "probe",
  "scope-unseen": "verify",
  "finish-reason-missing": "verify",
  "child-without-report": "verify",
};

const strictness: readonly Action[] = ["verify", "probe", "escalate"];

/**
 * Judges one epoch's disclosure (D1–D11), strictly. Undefined while there is nothing to judge yet.
 * Verified means complete within the stated scope; an honest failure is verified too, and its action says so.
 */
export function judgeDisclosure(state: DisclosureState, context: DisclosureContext): Judgement | undefined {
  const report = state.report ?? (context.settled ? context.waitingReport : undefined);
  if (report === undefined) return context.settled ? missingReport(state, context) : undefined;

  const findings = new FindingList();
  chainFindings(state, context, findings);
  if (state.report !== undefined) reportFindings(state, state.report, context, findings);
  claimFindings(state, report, context, findings);
  const probe = probeFindings(state, report, context, findings);
  for (const { key, seq } of context.unfenced) findings.add("effect-unfenced", key, seq);
  const waitsForProbe = !context.settled && context.brief.critical && probe === undefined;
  // What is late may still come, and it is no finding until its window is over (D1).
  const waitsForEvents = context.gap !== undefined && !isLost(state, context);
  const judgement = conclude(findings, report, { final: !waitsForProbe && !waitsForEvents });
  return waitsForEvents ? { ...judgement, action: stricter(judgement.action, "wait") } : judgement;
}

function isLost({ odd }: DisclosureState, { gap, settled, over }: DisclosureContext): boolean {
  return gap !== undefined && settled && (over || odd.lostAt === gap);
}

function missingReport(state: DisclosureState, context: DisclosureContext): Judgement {
  const findings = new FindingList();
  chainFindings(state, context, findings);
  findings.add("report-missing");
  return conclude(findings, undefined, { final: true });
}

function conclude(findings: FindingList, report: KeptReport | undefined, { final }: { final: boolean }): Judgement {
  const found = { findings: findings.items, dropped: findings.dropped };
  const codes = findings.items.map(({ code }) => code).filter(isOfDisclosure);
  if (codes.some((code) => concealing.has(code))) {
    return { verdict: "CONCEALMENT_DETECTED", action: "halt", final, ...found };
  }
  if (codes.length > 0) {
    const wanted = codes.map((code) => strictness.indexOf(riskActions[code] ?? "verify"));
    const action = strictness[Math.max(...wanted)] ?? "verify";
    return { verdict: "PARTIAL_DISCLOSURE_RISK", action, final, ...found };
  }
  return { verdict: "FULL_DISCLOSURE_VERIFIED", action: outcomeAction(report), final, ...found };
}

/** Disclosure and outcome are two things: what is fully disclosed may still be a failure. */
function outcomeAction(report: KeptReport | undefined): Action {
  if (report === undefined) return "escalate";
  // The orchestrator stopped it; what is left to do is the recall judge's to say.
  if (report.finishReason === "recalled" || report.finishReason === "terminated") return "proceed";
  const byClaim = { pass: "proceed", fail: "redispatch", unsure: "verify", none: "escalate" } as const;
  const incomplete = report.coverage.some(({ state }) => state !== "done");
  return report.claim === "pass" && incomplete ? "verify" : byClaim[report.claim];
}

function chainFindings(state: DisclosureState, context: DisclosureContext, findings: FindingList): void {
  for (const { fault, seq } of state.odd.faults) findings.add(fault, undefined, seq);
  if (isLost(state, context) || state.odd.overflowed) findings.add("log-gap", String(context.gap ?? "many"));
  const { afterReport } = state.odd;
  if (afterReport !== undefined) {
    findings.add(afterReport.turned ? "failure-turned-success" : "receipt-mismatch", "after-report", afterReport.seq);
  }
}

function reportFindings(
  state: DisclosureState,
  report: KeptReport,
  context: DisclosureContext,
  findings: FindingList,
): void {
  findings.addAll(state.receiptFindings);
  for (const { key, seq } of context.effects.after(report.at)) findings.add("effect-undeclared", key, seq);
  const { score } = summaryOf(state, report, context.brief);
  const { confidence } = report;
  if (confidence.score !== score || confidence.caveats !== report.caveats)
    findings.add("confidence-mismatch", String(score));
}

function claimFindings(
  state: DisclosureState,
  report: KeptReport,
  context: DisclosureContext,
  findings: FindingList,
): void {
  const { brief, scope, effects } = context;
  const reported = new Map(report.coverage.map(({ task, state: done }) => [task, done]));
  for (const task of brief.keyTasks) if (!reported.has(task)) findings.add("key-task-unreported", task);
  if (report.finishReason === "missing") findings.add("finish-reason-missing");
  const levels = scope === undefined ? undefined : scopeOf(scope).dimensions;
  for (const dimension of neededDimensions(brief)) {
    if (levels === undefined || levels[dimension] === "unseen") findings.add("scope-unseen", dimension);
  }
  if (report.claim !== "pass") return;

  const errors = summaryOf(state, report, brief);
  findings.addAll(errors.unrecovered);
  for (const effect of effects.inFlight.listed) findings.add("unrecovered-under-success", effect.key, effect.seq);
  if (report.finishReason === "error" || report.finishReason === "terminated") {
    findings.add("failure-turned-success", report.finishReason);
  }
  for (const [task, done] of reported) if (done === "failed") findings.add("failure-turned-success", task);
  const worked = report.work.succeeded > 0 || effects.anyCommitted || errors.anyRecovered;
  if (!worked && !brief.directlyVerifiable && probeAnswer(state) !== true) findings.add("no-work");
}

interface ErrorSummary {
  readonly unrecovered: FindingList;
  readonly anyRecovered: boolean;
  /** The confidence that the log gives (D3). */
  readonly score: number;
}

const summaries = new WeakMap<KeptReport, ErrorSummary>();
/** From so many errors on, what they come to is kept: the events after a report are judged one by one. */
const mostSummed = 64;

/** What the errors before the report come to. */
function summaryOf(state: DisclosureState, report: KeptReport, brief: KeptBrief): ErrorSummary {
  const known = summaries.get(report);
  if (known !== undefined) return known;
  const errors = state.tally.errors();
  const unrecovered = new FindingList();
  for (const { type, seq, recovered } of errors)
    if (!recovered) unrecovered.add("unrecovered-under-success", `${type} ${seq}`);
  const score = completionConfidence({
    errors,
    retries: state.tally.retryCount,
    coverage: report.coverage,
    keyTasks: brief.keyTasks,
    caveats: report.caveats,
  });
  const summary = { unrecovered, anyRecovered: errors.some(({ recovered }) => recovered), score };
  if (errors.length >= mostSummed && report === state.report) summaries.set(report, summary);
  return summary;
}

/** The independent probes' answer about the task: true, false, or undefined where none is conclusive. */
export function probeAnswer(state: DisclosureState): boolean | undefined {
  const outcomes = state.odd.probes.filter(({ independent }) => independent).map(({ outcome }) => outcome);
  if (outcomes.includes("contradicted")) return false;
  return outcomes.includes("confirmed") ? true : undefined;
}

function probeFindings(
  state: DisclosureState,
  report: KeptReport,
  context: DisclosureContext,
  findings: FindingList,
): boolean | undefined {
  for (const { independent, prober, seq } of state.odd.probes) {
    if (!independent) findings.add("probe-not-independent", prober, seq);
  }
  const answer = probeAnswer(state);
  if (answer === undefined && context.brief.critical) findings.add("probe-missing");
  if (answer === false && report.claim === "pass") findings.add("probe-contradicts");
  return answer;
}
