import { fittingIdentifiers } from "./identifiers.js";
import { fieldsOf, read } from "./thrown-fields.js";

/** What a look-up of an effect came to, where it goes. */
export type DoubtAnswer =
  /** It happened. `result` is what the effect would have returned. */
  | {
      readonly outcome: "committed";
      readonly result?: unknown;
      readonly identifiers?: Readonly<Record<string, string>>;
    }
  /** It certainly did not happen and will not: nothing that was sent can still arrive. */
  | { readonly outcome: "absent" }
  | { readonly outcome: "inconclusive" };

/**
 * Reads what a look-up came to: it is the agent's own code, and what is not one of the three answers must not be taken for one
 * of them. An effect that is wrongly taken to be absent happens twice.
 */
export function readDoubtAnswer(value: unknown): DoubtAnswer | undefined {
  const fields = fieldsOf(value);
  if (fields === undefined) return undefined;
  const outcome = read(fields, "outcome");
  if (outcome === "absent" || outcome === "inconclusive") return { outcome };
  if (outcome !== "committed") return undefined;
  return { outcome, result: read(fields, "result"), identifiers: fittingIdentifiers(read(fields, "identifiers")) };
}

/** Looks up where the effect goes whether it happened under its key. */
export type DoubtProbe = (question: {
  readonly key: string;
  readonly signal: AbortSignal;
}) => Promise<DoubtAnswer> | DoubtAnswer;
