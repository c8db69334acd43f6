import type { RuleId } from "./rules.js";

/** A rule that a statement meets, before it has a line. */
export interface Hit {
  readonly rule: RuleId;
  /** Byte offset in the parsed text; the start of the statement when there is none. */
  readonly at?: number;
}
