import { isCandorError } from "@candor/contract";
import type { Fields } from "./reader.js";
import type { Outcome } from "./suite.js";

/** The longest text shown of one value; reports of subagents can be very long. */
const shownCharacters = 120;

/** What differs between an expectation and the evaluation of its line, one sentence a field; empty when they agree. */
export function compare(expected: Fields, evaluate: () => Outcome): readonly string[] {
  const outcome = attempt(evaluate);
  if ("defect" in outcome) return [`threw ${outcome.defect} instead of a CandorError`];
  if ("refusal" in outcome) {
    return "error" in expected ? [] : [`refused (${outcome.refusal}), expected ${shown(gist(expected))}`];
  }
  const actual: Fields = outcome.value;
  const keys = new Set([...Object.keys(expected), ...Object.keys(actual)]);
  if (keys.has("error")) return [`expected a refusal (${shown(expected["error"])}), got ${shown(gist(actual))}`];
  return [...keys]
    .filter((key) => expected[key] !== actual[key])
    .map((key) => difference(key, expected[key], actual[key]));
}

/** What an outcome says in short. */
function gist(outcome: Fields): unknown {
  return outcome["verdict"] ?? outcome;
}

function attempt(evaluate: () => Outcome): { value: Outcome } | { refusal: string } | { defect: string } {
  try {
    return { value: evaluate() };
  } catch (error) {
    // The name of a refusal is the port's own affair, but it must be one: any other throw is a defect of the port.
    return isCandorError(error) ? { refusal: error.code } : { defect: String(error) };
  }
}

function difference(key: string, expected: unknown, actual: unknown): string {
  const where = typeof expected === "string" && typeof actual === "string" ? firstDifference(expected, actual) : "";
  return `${key}${where}: expected ${shown(expected)}, got ${shown(actual)}`;
}

function firstDifference(expected: string, actual: string): string {
  if (expected.length <= shownCharacters && actual.length <= shownCharacters) return "";
  let index = 0;
  while (index < expected.length && expected[index] === actual[index]) index += 1;
  return ` from character ${index}`;
}

/** A value for people, cut to a bounded length: in JSON's escapes and beyond them ASCII only, so that look-alikes and lone surrogates show. */
export function shown(value: unknown): string {
  if (value === undefined) return "nothing";
  const whole = JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return whole.length > shownCharacters ? `${whole.slice(0, shownCharacters)}…` : whole;
}
