import {
  completionConfidence,
  stricter,
  type Action,
  type DisclosureFindingCode,
  type FailurePolicy,
  type FindingCode,
} from "@candor/contract";
import { probeAnswer, type DisclosureState, type KeptReport } from "./disclosure-state.js";
import type { EffectLedger } from "./effect-ledger.js";
import { doubtAction } from "./doubt-action.js";
import { pointerFindings } from "./evidence-pointers.js";
import { decideFailures } from "./failure-decision.js";
import { FindingList, type Judgement } from "./judgement.js";
import { levelOf, neededDimensions, type KeptBrief, type KeptScope } from "./kept.js";

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
  /** A report that waits behind the gap. */
  readonly waitingReport: KeptReport | undefined;
  /** What the run's policy says of failures; undefined in a run that was opened before policies said it. */
  readonly failures: FailurePolicy | undefined;
  /** What the task made of its children's failures, and of its own. */
  readonly familyFindings: FindingList | undefined;
}

/** Something was hidden: report and log contradict each other, whatever else there is. */
const conceals = "conceals";

/** What a finding means: that something was hidden, or that it can't be known, and what is done then; the strictest counts. */
const meaning = {
  "receipt-mismatch": conceals,
  "log-gap": conceals,
  "log-fork": conceals,
  "chain-broken": conceals,
  "tally-mismatch": conceals,
  "retry-undisclosed": conceals,
  "effect-undeclared": conceals,
  "unrecovered-under-success": conceals,
  "failure-turned-success": conceals,
  "no-work": conceals,
  "confidence-mismatch": conceals,
  "probe-contradicts": conceals,
  "dangling-evidence": conceals,
  "failure-mismatch": conceals,
  "hop-rewritten": conceals,
  "hop-reordered": conceals,
  "hop-dropped": "escalate",
  "report-missing": "escalate",
  "probe-missing": "probe",
  "probe-not-independent": "probe",
  "key-task-unreported": "verify",
  "scope-unseen": "verify",
  "finish-reason-missing": "verify",
  "child-without-report": "verify",
} as const satisfies Record<DisclosureFindingCode, typeof conceals | Action>;

/** A finding of another judge, such as an effect that is only recorded, changes nothing here. */
function isOfDisclosure(code: FindingCode): code is DisclosureFindingCode {
  return Object.hasOwn(meaning, code);
}

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
  findings.addAll(state.odd.noted);
  pointerFindings(state.odd.evidence, findings);
  if (context.familyFindings !== undefined) findings.addAll(context.familyFindings);
  const waitsForProbe = !context.settled && context.brief.critical && probe === undefined;
  // What is late may still come, and it is no finding until its window is over (D1).
  const waitsForEvents = context.gap !== undefined && !isLost(state, context);
  // A guard looks within moments, and says so in the log; until then a pointer may be one without a body.
  const waitsForEvidence = state.odd.evidence.some(({ stored }) => stored === undefined);
  const judgement = conclude(findings, outcomeAction(state, report, context), {
    final: !waitsForProbe && !waitsForEvents && !waitsForEvidence,
  });
  const asked = [...state.odd.asked.values(), ...doubtActions(context.effects)];
  if (waitsForEvents || waitsForEvidence) asked.push("wait");
  return asked.length === 0 ? judgement : { ...judgement, action: asked.reduce(stricter, judgement.action) };
}

/** What to do about effects that are reported on without anybody knowing whether they happened, as their intents declare. */
function doubtActions(effects: EffectLedger): Action[] {
  if (effects.size === 0) return [];
  return effects.inFlight.listed.flatMap(({ inDoubt }) => (inDoubt === undefined ? [] : [doubtAction[inDoubt]]));
}

function isLost({ odd }: DisclosureState, { gap, settled, over }: DisclosureContext): boolean {
  return gap !== undefined && settled && (over || odd.lostAt === gap);
}

function missingReport(state: DisclosureState, context: DisclosureContext): Judgement {
  const findings = new FindingList();
  chainFindings(state, context, findings);
  findings.add("report-missing");
  return conclude(findings, "escalate", { final: true });
}

/** @param outcome what is done where nothing is found: what is fully disclosed may still be a failure */
function conclude(findings: FindingList, outcome: Action, { final }: { final: boolean }): Judgement {
  const found = { findings: findings.items, dropped: findings.dropped };
  let risk: Action | undefined;
  for (const { code } of findings.items) {
    if (!isOfDisclosure(code)) continue;
    const means = meaning[code];
    if (means === conceals) return { verdict: "CONCEALMENT_DETECTED", action: "halt", final, ...found };
    risk = risk === undefined ? means : stricter(risk, means);
  }
  if (risk !== undefined) return { verdict: "PARTIAL_DISCLOSURE_RISK", action: risk, final, ...found };
  return { verdict: "FULL_DISCLOSURE_VERIFIED", action: outcome, final, ...found };
}

/** Disclosure and outcome are two things: what is fully disclosed may still be a failure. */
function outcomeAction(state: DisclosureState, report: KeptReport, context: DisclosureContext): Action {
  // The orchestrator stopped it; what is left to do is the recall judge's to say.
  if (report.finishReason === "recalled" || report.finishReason === "terminated") return "proceed";
  if (report.claim === "fail") return failureAction(state, context);
  const byClaim = { pass: "proceed", unsure: "verify", none: "escalate" } as const;
  const incomplete = report.coverage.some(({ state: done }) => done !== "done");
  return report.claim === "pass" && incomplete ? "verify" : byClaim[report.claim];
}

/** By the policy, for every failure that nothing recovered; of one that has no type, only that it is still to be done. */
function failureAction({ tally }: DisclosureState, { brief, failures }: DisclosureContext): Action {
  if (failures === undefined) return "redispatch";
  const open = tally.errors().filter(({ recovered }) => !recovered);
  return decideFailures(open, brief.resultNeeded, failures)?.action ?? "redispatch";
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
  findings.addAll(state.odd.undeclared);
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
  for (const dimension of neededDimensions(brief)) {
    if (scope === undefined || levelOf(scope, dimension) === "unseen") findings.add("scope-unseen", dimension);
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

/** The confidence that the log gives for a report (D3), whatever the report says. */
export function scoreOf(state: DisclosureState, report: KeptReport, brief: KeptBrief): number {
  return summaryOf(state, report, brief).score;
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
