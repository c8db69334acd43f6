import type { Reader } from "./reader.js";

/** What the code under test said, under the names used in `expected`. */
export type Outcome = Readonly<Record<string, string | boolean>>;

/** What one line came to. */
export interface LineResult {
  /** The differences, one sentence each; empty if the line agrees. */
  readonly what: readonly string[];
  /** For a case that the contract leaves open: whether the answer is the option that is recommended. */
  readonly isRecommended?: boolean;
}

/**
 * Reads one line of vectors and returns the check of it, not yet run: a fault of the line and a refusal by the code
 * under test must not be taken for one another.
 */
export type Suite = (line: Reader) => () => LineResult;
