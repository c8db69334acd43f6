import type { CallCounts } from "./call-counts.js";
import type { CoverageBook } from "./coverage.js";
import type { FaultLog } from "./fault-log.js";
import type { OpenCalls } from "./open-calls.js";
import type { UnrecoveredRows } from "./unrecovered.js";

/** What the calls of one task share. */
export interface TaskDesk {
  /** Aborted at a recall and at every other reason to stop. */
  readonly signal: AbortSignal;
  /** @throws CandorError `recalled`, `fenced` or `task-over` once nothing new may start */
  requireRunning(): void;
  /** @throws CandorError `task-over` once the report is made: nothing can be added to what it says */
  requireUnreported(): void;
  /** Calls under way, which the report waits for. */
  readonly calls: OpenCalls;
  readonly faults: FaultLog;
  readonly coverage: CoverageBook;
  readonly unrecovered: UnrecoveredRows;
  /** Calls by upstream, and what repetition came to. */
  readonly counts: CallCounts;
  /** Calls and how many succeeded; counted here, told in the report. */
  readonly work: { calls: number; succeeded: number; consumed: number };
  /** Whether the brief's retry budget allows one more. */
  readonly mayRetry: boolean;
  spendRetry(): void;
}
