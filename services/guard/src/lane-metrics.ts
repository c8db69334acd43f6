/** What a lane has done since its guard started. */
export interface LaneMetrics {
  /** Entries folded after the checkpoint that the guard started from. */
  events: number;
  /** Entries folded silently up to it. */
  replayed: number;
  /** Verdicts that this guard stored. */
  verdicts: number;
  /** Quarantine records that this guard stored. */
  quarantined: number;
  /** Records found stored already, by another guard or by this one in an earlier life. */
  adopted: number;
  checkpoints: number;
  timersFired: number;
  /** Closed runs and tasks read again for a late event. */
  revivals: number;
  /** Subjects on which another guard stored something else. */
  divergences: number;
  /** Signatures checked on the fold's own thread. */
  verifiedInline: number;
}

export function initialMetrics(): LaneMetrics {
  return {
    events: 0,
    replayed: 0,
    verdicts: 0,
    quarantined: 0,
    adopted: 0,
    checkpoints: 0,
    timersFired: 0,
    revivals: 0,
    divergences: 0,
    verifiedInline: 0,
  };
}
