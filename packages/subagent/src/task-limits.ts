/** Waits, in ms. */
export interface TaskLimits {
  /** For the guard's word on a new intent. */
  readonly verdictMs: number;
  /** For a dispatch to be stored. */
  readonly dispatchMs: number;
  /**
   * For the log to have the outcome of an effect, and its key the result. What takes longer goes on in the background, and the
   * effect returns.
   */
  readonly settleMs: number;
  /**
   * For the log to confirm everything at the end, and for it to say whether it has an event that nothing can follow
   * before that is known.
   */
  readonly flushMs: number;
  /** For calls that still run when the callback has ended; what runs on after that is named in the report. */
  readonly openCallsMs: number;
}

export const defaultLimits: TaskLimits = {
  verdictMs: 2_000,
  dispatchMs: 5_000,
  settleMs: 2_000,
  flushMs: 30_000,
  openCallsMs: 30_000,
};
