import type { DelegateOptions } from "./delegation.js";
import type { PlannedAction } from "./minted-intents.js";
import type { TaskReport } from "./task-report.js";

/** An intent that the log has. */
export interface Intent {
  readonly task: string;
  readonly epoch: number;
  readonly control: number;
  /** Stream sequence in the log. */
  readonly sequence: number;
  readonly hash: Uint8Array;
}

export interface RecallOptions {
  /** Window in which effects under way may end, in ms; the policy and the brief bound it. */
  readonly graceMs: number;
  /** A word for the reason, not prose. */
  readonly reason: string;
  /** Log time in ms since 1970 after which the guard rejects this intent as expired; never by default. */
  readonly notAfterMs?: number;
}

export interface TerminateOptions {
  /** A word for the reason, not prose. */
  readonly reason: string;
  /** Recorded with the intent, for people: no verdict depends on it; false by default. */
  readonly force?: boolean;
  /** Log time in ms since 1970 after which the guard rejects this intent as expired; never by default. */
  readonly notAfterMs?: number;
}

export interface ApproveOptions {
  /** Who gives leave: a name, not prose. */
  readonly person: string;
  /** The report that the person saw, as `report` read it. */
  readonly report?: TaskReport;
  /** Planned actions of it that may run, and those that may not. */
  readonly approved?: readonly PlannedAction[];
  readonly refused?: readonly PlannedAction[];
  /** Its result may be used although no verifier vouches for it; false by default. */
  readonly accept?: boolean;
  /** Re-dispatches beyond the terms; 0 by default. */
  readonly redispatches?: number;
  /** What the next delegation may allow in addition. */
  readonly authority?: readonly string[];
}

export interface RedelegateOptions extends Omit<DelegateOptions, "task"> {
  /** Agent of the epoch before; needed only where no guard has judged an epoch that another process delegated. */
  readonly predecessor?: string;
}
