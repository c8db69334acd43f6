import type { CandorError, Logger } from "@candor/contract";

export interface EventStreamOptions {
  /** Messages that may be under way without an answer; 512 by default. */
  readonly window?: number;
  /** How long an answer may take before everything unanswered is sent again; 2,000 by default. */
  readonly answerMs?: number;
  /** Told when storing stops going ahead, and, with undefined, when it goes ahead again. */
  readonly onTrouble?: (trouble: CandorError | undefined) => void;
  readonly logger?: Logger;
}
