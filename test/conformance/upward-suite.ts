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
    const answer = attempt(() => answerOf(text, brief, budget));
    if (typeof answer === "string") return { what: [answer] };
    const found = allowed.map((expectation) => differences(expectation, answer));
    const chosen = found.findIndex((what) => what.length === 0);
    const what = chosen >= 0 ? [] : isOpen ? [`none of ${found.length} options: got ${shown(answer)}`] : found.flat();
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

function answerOf(text: string, brief: DispatchBrief, budget: RetryBudget): Fields {
  const reading = parseUpwardReport(text);
  const { action, awaitingApproval } = dispatch(reading, brief, budget);
  if (reading.ok) {
    const { report } = reading;
    return { ok: true, report, parent_action: named(action), gate_planned_actions: awaitingApproval.length > 0 };
  }
  // A refused report is escalated, always.
  return { ok: false, reason_class: named(reading.refusal.reasonClass), parent_action: named(action) };
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
