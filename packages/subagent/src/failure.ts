import { isCandorError, type ErrorType, type Finality } from "@candor/contract";
import {
  byCandorAction,
  byCandorCode,
  byName,
  byStatus,
  byStatusClass,
  bySystemCode,
  typeTable,
  type Classified,
} from "./failure-tables.js";

/** Whatever was thrown, as a typed fact (F1, F10). `description` is prose: it is sealed before it leaves the process. */
export interface Failure {
  readonly type: ErrorType;
  readonly retryable: boolean;
  /** The finality of giving up. */
  readonly given: Finality;
  /** True unless the call is known to have been turned away before it did anything. */
  readonly mayHaveHappened: boolean;
  readonly description: string;
}

/** The agent's own knowledge of its errors: a type, or undefined to leave it to the table. */
export type Classify = (error: unknown) => ErrorType | undefined;

/** How far causes are followed; a cycle ends here too. */
const deepest = 8;
const longestDescription = 4_096;

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(value: unknown): Fields | undefined {
  return (typeof value === "object" && value !== null) || typeof value === "function" ? (value as Fields) : undefined;
}

/** Reads a property of somebody else's object; one that throws is as good as none. */
function read(fields: Fields, name: string): unknown {
  try {
    return fields[name];
  } catch {
    return undefined;
  }
}

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
  if (isCandorError(error)) return byCandorCode[error.code] ?? byCandorAction[error.action];
  const fields = fieldsOf(error);
  if (fields === undefined) return undefined;
  return ownRow(byName, read(fields, "name")) ?? byHttpStatus(fields) ?? ownRow(bySystemCode, read(fields, "code"));
}

function causesOf(error: unknown): unknown[] {
  const fields = fieldsOf(error);
  if (fields === undefined) return [];
  const errors = read(fields, "errors");
  const first: unknown = Array.isArray(errors) ? errors[0] : undefined;
  return [read(fields, "cause"), first].filter((cause) => cause !== undefined && cause !== null);
}

/** A wrapper says less than what it wraps: `fetch failed` has the reason in its cause. */
function classify(error: unknown, depth = 0): Classified | undefined {
  const own = classifyOne(error);
  if (own !== undefined || depth >= deepest) return own;
  for (const cause of causesOf(error)) {
    const found = classify(cause, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

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
  return texts.join(" ← ").slice(0, longestDescription);
}

/**
 * Turns anything that was thrown into a typed failure, by table: our own errors by code, then the error's name, HTTP
 * status and system code, then its causes. What no row knows is a `defect`, so that an unknown error is never retried.
 *
 * @param error anything, also a string or nothing
 * @param classifyOwn the agent's own table; where it answers, it wins
 */
export function toFailure(error: unknown, classifyOwn?: Classify): Failure {
  const own = classifyOwn?.(error);
  const classified: Classified = classify(error) ?? { type: "defect", turnedAway: false };
  const type = own ?? classified.type;
  const { retryable, given, turnedAway: ownTurnedAway } = typeTable[type];
  const turnedAway = own === undefined ? classified.turnedAway : ownTurnedAway;
  return { type, retryable, given, mayHaveHappened: !turnedAway, description: describe(error) };
}
