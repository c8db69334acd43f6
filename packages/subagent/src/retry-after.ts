import { fieldsOf, read, type Fields } from "./thrown-fields.js";

/** How far causes are followed. */
const deepest = 8;
/** What is believed at most, in ms: a week. */
const longestMs = 7 * 86_400_000;

type Unit = (text: string, nowMs: number) => number | undefined;

const milliseconds: Unit = (text) => (/^\d{1,12}(\.\d+)?$/.test(text) ? Math.ceil(Number(text)) : undefined);
const seconds: Unit = (text) => (/^\d{1,9}(\.\d+)?$/.test(text) ? Math.ceil(Number(text) * 1_000) : undefined);
/** RFC 9110, section 10.2.3: seconds, or a date as HTTP writes it. */
const secondsOrDate: Unit = (text, nowMs) => {
  const given = seconds(text, nowMs);
  if (given !== undefined) return given;
  const atMs = /^[A-Z][a-z]{2,8},? /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
};

/** Headers that name a wait, the more exact first. `retry-after-ms` is what model providers send beside the other. */
const rows: readonly (readonly [header: string, unit: Unit])[] = [
  ["retry-after-ms", milliseconds],
  ["retry-after", secondsOrDate],
];

/** A header's value, from `Headers`, a `Map`, or a plain object in any case of letters. */
function header(headers: Fields, name: string): string | undefined {
  const get = read(headers, "get");
  const value: unknown = typeof get === "function" ? called(headers, get, name) : own(headers, name);
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return typeof first === "string" || typeof first === "number" ? String(first).trim() : undefined;
}

function called(headers: Fields, get: unknown, name: string): unknown {
  try {
    return (get as (name: string) => unknown).call(headers, name);
  } catch {
    return undefined;
  }
}

function own(headers: Fields, name: string): unknown {
  try {
    const found = Object.keys(headers).find((key) => key.toLowerCase() === name);
    return found === undefined ? undefined : read(headers, found);
  } catch {
    return undefined;
  }
}

function stated(fields: Fields, nowMs: number): number | undefined {
  const response = fieldsOf(read(fields, "response"));
  const places = [read(fields, "headers"), response && read(response, "headers")];
  for (const place of places) {
    const headers = fieldsOf(place);
    if (headers === undefined) continue;
    for (const [name, unit] of rows) {
      const text = header(headers, name);
      const waitMs = text === undefined ? undefined : unit(text, nowMs);
      if (waitMs !== undefined) return Math.min(waitMs, longestMs);
    }
  }
  return undefined;
}

/**
 * What the other side asked to be waited before the next try (`Retry-After`), from the headers of the error, of its
 * response, or of a cause.
 *
 * @param error anything
 * @param nowMs what a date is counted from, in ms since 1970
 * @returns a wait in ms; undefined where none is named or what is named can't be read
 */
export function retryAfterOf(error: unknown, nowMs: number): number | undefined {
  let next: unknown = error;
  for (let depth = 0; depth < deepest; depth += 1) {
    const fields = fieldsOf(next);
    if (fields === undefined) return undefined;
    const waitMs = stated(fields, nowMs);
    if (waitMs !== undefined) return waitMs;
    next = read(fields, "cause");
  }
  return undefined;
}
