import { cutText } from "@candor/contract";
import { fieldsOf, read } from "./thrown-fields.js";

const mostEntries = 16;
const longestName = 128;
const longestText = 256;

type Identifiers = Readonly<Record<string, string>>;

/**
 * What goes onto the wire of the identifiers of an effect: it has happened, so telling it must not fail, whatever its code
 * says of it.
 *
 * @param more what is named now; what has no text is left out
 * @param before what was named before; it stays, and so much is left out of `more` that both are at most 16
 */
export function fittingIdentifiers(more: unknown, before: Identifiers = {}): Record<string, string> {
  const fitting = new Map(Object.entries(before));
  for (const [name, text] of namedTexts(more)) {
    // Of all names this one alone is none to whoever decodes it.
    if (name === "" || name === "__proto__" || text === "") continue;
    if (fitting.size < mostEntries || fitting.has(name)) fitting.set(name, text);
  }
  return Object.fromEntries(fitting);
}

function namedTexts(value: unknown): (readonly [name: string, text: string])[] {
  const fields = fieldsOf(value);
  if (fields === undefined) return [];
  try {
    return Object.keys(fields).map((name) => [nameOf(name), textOf(read(fields, name))] as const);
  } catch {
    return [];
  }
}

/** An object may know how it is written. */
const written: (value: unknown) => string = String;

function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  try {
    const text = whole(written(value));
    return text.length > longestText ? `${cutText(text, longestText - 1)}…` : text;
  } catch {
    return "";
  }
}

function nameOf(name: string): string {
  return cutText(whole(name).replace(/\p{Cc}/gu, " "), longestName);
}

/** Without halves of characters, which have no UTF-8. */
function whole(text: string): string {
  return text.replace(/\p{Cs}/gu, "\u{FFFD}");
}
