/** What a lane has counted itself since its guard started. */
export interface LaneCounts {
  /** Entries folded after the checkpoint that the guard started from. */
  events: number;
  /** Entries folded silently up to it. */
  replayed: number;
  /** Verdicts that the entries after it brought forth. */
  verdicts: number;
  /** Messages after it that were refused. */
  quarantined: number;
  checkpoints: number;
  timersFired: number;
}

/** What became of a lane's records. */
export interface RecordCounts {
  /** Stored by this guard. */
  readonly stored: number;
  /** Found stored already, by another guard or by this one in an earlier life. */
  readonly adopted: number;
  /** Stored by another guard while this one was sending its own. */
  readonly lost: number;
  /** Sent again because an answer stayed out or the server could not store. */
  readonly repeated: number;
  /** Subjects on which another guard stored something else. */
  readonly diverged: number;
}

/** All figures of a lane, as the state API and STATS show them. */
export interface LaneMetrics extends Readonly<LaneCounts>, RecordCounts {
  /** Closed runs and tasks read again for a late event. */
  readonly revivals: number;
  /** Signatures that nobody foresaw, checked when the fold asked for them. */
  readonly verifiedInline: number;
}

export function initialCounts(): LaneCounts {
  return { events: 0, replayed: 0, verdicts: 0, quarantined: 0, checkpoints: 0, timersFired: 0 };
}
