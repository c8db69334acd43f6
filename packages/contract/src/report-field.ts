import { reportReasonClasses, type ReportReasonClass } from "./report-refusals.js";

/** Why a field was not taken. */
interface FieldRefusal {
  readonly reasonClass: ReportReasonClass;
  readonly path: string;
  readonly sentence: string;
}

/** One field that was read, or why not. */
export type Read<Value> = { readonly value: Value } | { readonly refusal: FieldRefusal };

/** The longest text shown of a value that is wrong. */
const shownCharacters = 60;

/** An own property's value, without running a getter. */
export function own(value: object, name: string): unknown {
  return Object.getOwnPropertyDescriptor(value, name)?.value;
}

/** A value for people, cut to a bounded length; of lists and objects only what they are. */
export function shownValue(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (typeof value === "object" || typeof value === "function") return "a mapping";
  if (typeof value !== "string")
    return typeof value === "symbol" ? "a symbol" : `${value as number | boolean | bigint}`;
  const text = JSON.stringify(value.slice(0, shownCharacters));
  return value.length > shownCharacters ? `${text.slice(0, -1)}…"` : text;
}

/** @param found the value that stands there */
export function refused(reasonClass: ReportReasonClass, path: string, found: unknown): { refusal: FieldRefusal } {
  const { must } = reportReasonClasses[reasonClass];
  return { refusal: { reasonClass, path, sentence: `${must}; found ${shownValue(found)}` } };
}
