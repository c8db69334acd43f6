import { cutText, errorTypes, isCandorError, type ErrorType, type Finality } from "@candor/contract";
import {
  byCandorAction,
  byCandorCode,
  byName,
  byStatus,
  byStatusClass,
  bySystemCode,
  gravest,
  typeTable,
  type Classified,
} from "./failure-tables.js";
import { retryAfterOf } from "./retry-after.js";
import { fieldsOf, read, type Fields } from "./thrown-fields.js";

/** Whatever was thrown, as a typed fact (F1, F10). `description` is prose: it is sealed before it leaves the process. */
export interface Failure {
  readonly type: ErrorType;
  readonly retryable: boolean;
  /** The finality of giving up. */
  readonly given: Finality;
  /** True unless the call is known to have been turned away before it did anything. */
  readonly mayHaveHappened: boolean;
  /** What the other side asked to be waited before the next try, in ms; undefined if it did not say. */
  readonly retryAfterMs?: number;
  readonly description: string;
}

/** The agent's own knowledge of its errors: a type, or undefined to leave it to the table. */
export type Classify = (error: unknown) => ErrorType | undefined;

/** How far causes are followed; a cycle ends here too. */
const deepest = 8;
const longestDescription = 4_096;
/** Members of one list of failures, and failures of one error in all, that are looked at. */
const mostMembers = 16;
const mostSearched = 64;

function ownRow<T>(table: Readonly<Record<PropertyKey, T>>, key: unknown): T | undefined {
  if (typeof key !== "string" && typeof key !== "number") return undefined;
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

function statusOf(fields: Fields): number | undefined {
  const response = fieldsOf(read(fields, "response"));
  const candidates = [read(fields, "status"), read(fields, "statusCode"), response && read(response, "status")];
  return candidates.find(
    (value): value is number => Number.isInteger(value) && Number(value) >= 400 && Number(value) < 600,
  );
}

function byHttpStatus(fields: Fields): Classified | undefined {
  const status = statusOf(fields);
  return status === undefined ? undefined : (ownRow(byStatus, status) ?? byStatusClass[Math.floor(status / 100)]);
}

/** What an error says of itself, without its causes. The first row that knows it wins. */
function classifyOne(error: unknown): Classified | undefined {
  if (isCandorError(error)) {
    const passed =
      error.code === "child-failed" ? errorTypes.find((type) => type === error.details["type"]) : undefined;
    return passed === undefined
      ? (byCandorCode[error.code] ?? byCandorAction[error.action])
      : { type: passed, turnedAway: false };
  }
  const fields = fieldsOf(error);
  if (fields === undefined) return undefined;
  return ownRow(byName, read(fields, "name")) ?? byHttpStatus(fields) ?? ownRow(bySystemCode, read(fields, "code"));
}

function causesOf(error: unknown): unknown[] {
  const fields = fieldsOf(error);
  if (fields === undefined) return [];
  return [read(fields, "cause"), ...membersOf(fields)].filter((cause) => cause !== undefined && cause !== null);
}

/** The failures of an `AggregateError`, as many as are looked at. */
function membersOf(fields: Fields): unknown[] {
  try {
    const errors = read(fields, "errors");
    return Array.isArray(errors) ? errors.slice(0, mostMembers) : [];
  } catch {
    return [];
  }
}

/** What is left to look at, so that nested lists of failures can't be multiplied. */
interface Search {
  left: number;
}

/** A wrapper says less than what it wraps: `fetch failed` has the reason in its cause. */
function classify(error: unknown, search: Search, depth = 0): Classified | undefined {
  const own = classifyOne(error);
  search.left -= 1;
  if (own !== undefined || depth >= deepest || search.left <= 0) return own;
  const fields = fieldsOf(error);
  if (fields === undefined) return undefined;
  const cause = read(fields, "cause");
  const caused = cause === undefined || cause === null ? undefined : classify(cause, search, depth + 1);
  return caused ?? allOf(membersOf(fields).map((member) => classify(member, search, depth + 1)));
}

/** What several failures at once come to: the gravest type, and turned away only if each of them was. */
function allOf(members: readonly (Classified | undefined)[]): Classified | undefined {
  if (members.every((member) => member === undefined)) return undefined;
  const known = members.map((member) => member ?? unknownFailure);
  const type = gravest.find((one) => known.some((member) => member.type === one)) ?? "defect";
  return { type, turnedAway: known.every(({ turnedAway }) => turnedAway) };
}

const unknownFailure: Classified = { type: "defect", turnedAway: false };

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  const message = fieldsOf(value) === undefined ? undefined : read(value as Fields, "message");
  if (typeof message === "string" && message !== "") {
    const name = read(value as Fields, "name");
    return typeof name === "string" && name !== "Error" ? `${name}: ${message}` : message;
  }
  try {
    return String(value);
  } catch {
    return "a value that can't be written as text";
  }
}

function describe(error: unknown): string {
  if (error === undefined || error === null) return `The code threw ${String(error)} instead of an error.`;
  const texts: string[] = [];
  let next: unknown = error;
  for (let depth = 0; depth < deepest && next !== undefined; depth += 1) {
    const text = textOf(next);
    if (!texts.includes(text)) texts.push(text);
    next = causesOf(next)[0];
  }
  return cutText(texts.join(" ← "), longestDescription);
}

/** What the agent's own table says; a word that is no type, or a table that fails, says nothing. */
function ownType(error: unknown, classifyOwn: Classify | undefined): ErrorType | undefined {
  try {
    const own = classifyOwn?.(error);
    return errorTypes.find((type) => type === own);
  } catch {
    return undefined;
  }
}

/**
 * Turns anything that was thrown into a typed failure, by table: our own errors by code, then the error's name, HTTP
 * status and system code, then its causes, then what an `AggregateError` holds. What no row knows is a `defect`, so that
 * an unknown error is never retried.
 *
 * @param error anything, also a string or nothing
 * @param classifyOwn the agent's own table; where it answers, it wins
 * @param nowMs what a `Retry-After` that is a date is counted from, in ms since 1970
 */
export function toFailure(error: unknown, classifyOwn?: Classify, nowMs: number = Date.now()): Failure {
  const own = ownType(error, classifyOwn);
  const classified = classify(error, { left: mostSearched }) ?? unknownFailure;
  const type = own ?? classified.type;
  const { retryable, given, turnedAway: ownTurnedAway } = typeTable[type];
  const turnedAway = own === undefined ? classified.turnedAway : ownTurnedAway;
  const retryAfterMs = retryAfterOf(error, nowMs);
  return {
    type,
    retryable,
    given,
    mayHaveHappened: !turnedAway,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    description: describe(error),
  };
}
