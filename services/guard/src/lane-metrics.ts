import type { RecordCounts } from "./lane-ports.js";

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

/** All figures of a lane, as the state API and STATS show them. */
export interface LaneMetrics extends Readonly<LaneCounts>, RecordCounts {
  /** Closed runs and tasks read again for a late event. */
  readonly revivals: number;
  /** Signatures checked on the fold's own thread. */
  readonly verifiedInline: number;
}

export function initialCounts(): LaneCounts {
  return { events: 0, replayed: 0, verdicts: 0, quarantined: 0, checkpoints: 0, timersFired: 0 };
}
