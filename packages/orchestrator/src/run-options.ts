import type { DelegateOptions } from "./delegation.js";

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

export interface RedelegateOptions extends Omit<DelegateOptions, "task"> {
  /** Agent of the epoch before; needed only where no guard has judged an epoch that another process delegated. */
  readonly predecessor?: string;
}
