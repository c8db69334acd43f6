import { isDeepStrictEqual } from "node:util";
import { CandorError } from "@candor/contract";
import { dispatch, type DispatchBrief, type RetryBudget } from "@candor/guards";
import { parseUpwardReport } from "@candor/orchestrator/report";
import { shown } from "./comparison.js";
import type { Fields, Reader } from "./reader.js";
import type { LineResult } from "./suite.js";

/** One outcome that a line allows. */
interface Expectation {
  readonly fields: Fields;
  /** Refusals that are as good as the first; undefined where a report is expected. */
  readonly classes: readonly string[] | undefined;
}

/** The vectors' names have underscores where ours have hyphens. */
function named(word: string): string {
  return word.replaceAll("-", "_");
}

/** Reads a subagent's answer, chooses the action, and compares with the one expectation, or the options of an open case. */
export function upwardReports(line: Reader): () => LineResult {
  const text = line.fields["text"] === undefined ? joined(line.children("text_parts")) : line.text("text");
  const context = line.child("context");
  const budget: RetryBudget = {
    retriesAllowed: context.doubleOrNull("retries_allowed"),
    retriesUsed: context.doubleOrNull("retries_used"),
  };
  // The vectors take it for granted that there is a verifier.
  const verifier = { kind: "command", argv: ["verify"], timeLimitMs: 1_000 } as const;
  const brief: DispatchBrief = { newMechanism: context.flagOrNull("new_mechanism"), verifier };
  const isOpen = line.fields["expected"] === null;
  const allowed = (isOpen ? line.children("options") : [line.child("expected")]).map(expectationOf);
  const recommended = isOpen ? line.double("recommended") : 0;
  if (allowed[recommended] === undefined) {
    throw new CandorError("malformed", `recommended must be the index of an option, but is ${recommended}`);
  }
  return () => {
    const answer = attempt(() => answersOf(text, brief, budget));
    if (typeof answer === "string") return { what: [answer] };
    const found = allowed.map((expectation) => leastOf(answer.map((fields) => differences(expectation, fields))));
    const chosen = found.findIndex((what) => what.length === 0);
    const what =
      chosen >= 0 ? [] : isOpen ? [`none of ${found.length} options: got ${shown(answer[0])}`] : found.flat();
    return { what, ...(isOpen ? { isRecommended: chosen === recommended } : {}) };
  };
}

function joined(parts: readonly Reader[]): string {
  return parts.map((part) => part.text("s").repeat(part.double("n"))).join("");
}

function expectationOf(line: Reader): Expectation {
  if (!line.flag("ok")) {
    line.text("reason_class");
    return { fields: line.fields, classes: line.texts("reason_class_any") };
  }
  const report = line.child("report");
  const fields = { ...line.fields, report: { ...report.fields, confidence: report.double("confidence") } };
  return { fields, classes: undefined };
}

/** What the code under test answers, in the vectors' words; of several forms of one answer each counts. */
function answersOf(text: string, brief: DispatchBrief, budget: RetryBudget): readonly Fields[] {
  const reading = parseUpwardReport(text);
  const decision = dispatch(reading, brief, budget);
  const action = named(decision.action);
  // A refused report is escalated, always.
  if (!reading.ok) return [{ ok: false, reason_class: named(reading.refusal.reasonClass), parent_action: action }];
  const isGated = decision.awaitingApproval.length > 0;
  const answer = { ok: true, report: reading.report, parent_action: action, gate_planned_actions: isGated };
  const isUnknown = decision.action === "escalate" && decision.cause === "unknown-context";
  // To escalate since the context is unknown, and to refuse it by that name, is the same.
  return isUnknown ? [answer, { ok: false, reason_class: "unknown_context", parent_action: action }] : [answer];
}

/** The shortest list: the form of an answer that comes nearest. */
function leastOf(lists: readonly (readonly string[])[]): readonly string[] {
  return lists.reduce((least, list) => (list.length < least.length ? list : least));
}

function attempt<Value>(evaluate: () => Value): Value | string {
  try {
    return evaluate();
  } catch (error) {
    return `threw ${String(error)}`;
  }
}

function differences({ fields, classes }: Expectation, answer: Fields): readonly string[] {
  if (classes === undefined) return unequal(fields, answer);
  const { ok, reason_class: reasonClass, parent_action: action } = answer;
  if (ok === true) return [`ok: expected a refusal (${shown(classes)}), got the action ${shown(action)}`];
  const isRefused = typeof reasonClass === "string" && classes.includes(reasonClass);
  return [
    ...(isRefused ? [] : [`reason_class: expected one of ${shown(classes)}, got ${shown(reasonClass)}`]),
    ...(action === "escalate" ? [] : [`parent_action: expected "escalate" for a refusal, got ${shown(action)}`]),
  ];
}

/** The fields of the two that differ; a report is compared field by field. */
function unequal(expected: Fields, actual: Fields, path = ""): readonly string[] {
  return [...new Set([...Object.keys(expected), ...Object.keys(actual)])].flatMap((key) => {
    const [wanted, found] = [expected[key], actual[key]];
    if (isDeepStrictEqual(wanted, found)) return [];
    if (key === "report" && isFields(wanted) && isFields(found)) return unequal(wanted, found, "report.");
    return [`${path}${key}: expected ${shown(wanted)}, got ${shown(found)}`];
  });
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}
