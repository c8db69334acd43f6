import type { CoverageBook } from "./coverage.js";
import type { FaultLog } from "./fault-log.js";
import type { UnrecoveredRows } from "./unrecovered.js";

/** What the calls of one task share. */
export interface TaskDesk {
  /** Aborted at a recall and at every other reason to stop. */
  readonly signal: AbortSignal;
  /** @throws CandorError `recalled`, `fenced` or `task-over` once nothing new may start */
  requireRunning(): void;
  readonly faults: FaultLog;
  readonly coverage: CoverageBook;
  readonly unrecovered: UnrecoveredRows;
  /** Calls and how many succeeded; counted here, told in the report. */
  readonly work: { calls: number; succeeded: number };
  /** Whether the brief's retry budget allows one more. */
  readonly mayRetry: boolean;
  spendRetry(): void;
}
