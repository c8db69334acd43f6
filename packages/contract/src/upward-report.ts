import { own, type Read, refused } from "./report-field.js";
import type { ReportReasonClass } from "./report-refusals.js";

export const reportStatuses = ["completed", "failed", "blocked", "denied-by-authority"] as const;
export type ReportStatus = (typeof reportStatuses)[number];

/** The root key of a report that is written as text. */
export const reportRoot = "upward-report";

/** What a subagent says to its orchestrator at the end of its work (U1), under the names it is written with. */
export interface UpwardReport {
  readonly status: ReportStatus;
  /** Self-reported, 0 to 1. */
  readonly confidence: number;
  readonly blockers: readonly string[];
  readonly "escalation-required": boolean;
  readonly "escalation-reason": string | null;
  readonly "evidence-anchors": readonly string[];
  readonly "planned-actions-pending-approval": readonly string[];
  /** One line of text. */
  readonly notes: string | null;
}

/** Why a report was not taken. Nothing of it may be acted upon. */
export interface ReportRefusal {
  readonly reasonClass: ReportReasonClass;
  /** The offending field, like `upward-report.blockers[2]`; empty where it is the text as a whole. */
  readonly path: string;
  /** Line of the text, from 1; undefined for objects. */
  readonly line?: number;
  /** What is wrong, for people. */
  readonly sentence: string;
}

/** A report that was read, or the reason why not. */
export type ReportReading =
  | {
      readonly ok: true;
      readonly report: UpwardReport;
      /** Names of fields that a report does not have; they have no effect whatever they say. */
      readonly ignored: readonly string[];
    }
  | { readonly ok: false; readonly refusal: ReportRefusal };

type FieldRules = { readonly [Name in keyof UpwardReport]: (value: unknown, path: string) => Read<UpwardReport[Name]> };

/** One rule a field, in the order in which a report is checked. An own property that is missing is `undefined`. */
const rules: FieldRules = {
  status: (value, path) =>
    value === undefined ? missing(path) : isStatus(value) ? { value } : refused("invalid-status", path, value),
  confidence: confidenceOf,
  blockers: listOf,
  "escalation-required": (value, path) =>
    value === undefined ? missing(path) : typeof value === "boolean" ? { value } : refused("not-boolean", path, value),
  "escalation-reason": (value, path) => textOrNull(value) ?? refused("missing-escalation-reason", path, value),
  "evidence-anchors": listOf,
  "planned-actions-pending-approval": listOf,
  notes: notesOf,
};

export const reportFields = Object.keys(rules) as readonly (keyof UpwardReport)[];

/** At most this many names of unknown fields are kept, each cut to `nameCharacters`. */
const keptNames = 20;
const nameCharacters = 80;

/**
 * Checks a report in its object form, as a framework's structured output gives it: the eight fields under their written
 * names, own properties only. Lists may be null for empty, `notes` and `escalation-reason` null or left out.
 * It never throws, and runs no getter of the value: they count as missing. A proxy that throws is no report.
 */
export function checkUpwardReport(value: unknown): ReportReading {
  try {
    return check(value);
  } catch {
    return { ok: false, ...refused("wrong-root", reportRoot, {}) };
  }
}

function check(value: unknown): ReportReading {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return { ok: false, ...refused("wrong-root", reportRoot, value) };
  }
  const read: Partial<Record<keyof UpwardReport, unknown>> = {};
  for (const name of reportFields) {
    const field = rules[name](own(value, name), `${reportRoot}.${name}`);
    if ("refusal" in field) return { ok: false, refusal: field.refusal };
    read[name] = field.value;
  }
  // Each field has just been read by the rule of its type.
  const report = read as UpwardReport;
  if (report.status === "blocked" && report.blockers.length === 0) {
    return { ok: false, ...refused("missing-blockers", `${reportRoot}.blockers`, report.blockers) };
  }
  const names = Object.keys(value).filter((name) => !Object.hasOwn(rules, name));
  return { ok: true, report, ignored: names.slice(0, keptNames).map((name) => name.slice(0, nameCharacters)) };
}

function missing(path: string): Read<never> {
  return refused("missing-field", path, undefined);
}

function isStatus(value: unknown): value is ReportStatus {
  return (reportStatuses as readonly unknown[]).includes(value);
}

function confidenceOf(value: unknown, path: string): Read<number> {
  if (value === undefined) return missing(path);
  if (typeof value !== "number") return refused("confidence-not-number", path, value);
  // Written so that NaN, which no comparison is true of, is out of range.
  return value >= 0 && value <= 1 ? { value } : refused("confidence-out-of-range", path, value);
}

function listOf(value: unknown, path: string): Read<readonly string[]> {
  if (value === undefined) return missing(path);
  if (value === null) return { value: [] };
  if (!Array.isArray(value)) return refused("not-a-list", path, value);
  const items: string[] = [];
  for (let index = 0; index < value.length; index += 1) {
    const item = own(value, String(index));
    if (typeof item !== "string") return refused("item-not-string", `${path}[${index}]`, item);
    if (item.trim() === "") return refused("empty-item", `${path}[${index}]`, item);
    items.push(item);
  }
  return { value: items };
}

function notesOf(value: unknown, path: string): Read<string | null> {
  const read = textOrNull(value);
  if (read === undefined) return refused("notes-not-string", path, value);
  // A literal block of one line ends with its line break; that is still one line.
  return /[\r\n](?!$)|\r$/.test(read.value ?? "") ? refused("notes-not-one-line", path, value) : read;
}

function textOrNull(value: unknown): { readonly value: string | null } | undefined {
  if (value === undefined || value === null) return { value: null };
  return typeof value === "string" ? { value } : undefined;
}
