import { CandorError, type AgentKind, type Mode, type Payload, type RetryEntry } from "@candor/contract";
import type { Control } from "./control.js";
import { CallCounts } from "./call-counts.js";
import { CoverageBook } from "./coverage.js";
import { EffectBook } from "./effect-book.js";
import type { FaultLog } from "./fault-log.js";
import { OpenCalls } from "./open-calls.js";
import { ToldErrors } from "./reported-failure.js";
import type { TaskDesk } from "./task-desk.js";
import { UnrecoveredRows } from "./unrecovered.js";

/** What a task's own chain comes to, folded event by event: first what the spool holds, then what is recorded. */
export class TaskState {
  readonly book = new EffectBook();
  readonly unrecovered = new UnrecoveredRows();
  readonly retries: RetryEntry[] = [];
  readonly told = new ToldErrors();
  /** Control numbers that were acknowledged. */
  readonly answered = new Set<number>();
  reported: Payload<"report"> | undefined;
  #replaying = true;

  observe(seq: number, kind: AgentKind, payload: unknown, hash: Uint8Array): void {
    this.told.observe(seq, kind, payload, hash);
    if (this.#replaying) this.unrecovered.observe(seq, kind, payload);
    if (kind === "effect") this.book.observe(seq, payload as Payload<"effect">);
    else if (kind === "retry") this.retries.push({ seq, ...(payload as Payload<"retry">) });
    else if (kind === "acknowledge") this.answered.add((payload as Payload<"acknowledge">).control);
    else if (kind === "report") this.reported = payload as Payload<"report">;
  }

  /** From now on events are this process's own. */
  endReplay(): void {
    this.#replaying = false;
  }
}

export interface DeskParts {
  readonly control: Control;
  readonly faults: FaultLog;
  readonly state: TaskState;
  readonly keyTasks: readonly string[];
  readonly retryBudget: number;
  readonly mode: Mode;
  /** Why nothing can be recorded any more; undefined while it can. */
  readonly failure: () => CandorError | undefined;
}

/** The shared part of a task's calls. */
export class Desk implements TaskDesk {
  readonly faults: FaultLog;
  readonly coverage: CoverageBook;
  readonly unrecovered: UnrecoveredRows;
  readonly work = { calls: 0, succeeded: 0, consumed: 0 };
  readonly calls = new OpenCalls();
  readonly counts = new CallCounts();
  /** The callback has returned. */
  over = false;
  readonly #parts: DeskParts;
  #retriesLeft: number;

  constructor(parts: DeskParts) {
    this.#parts = parts;
    this.faults = parts.faults;
    this.coverage = new CoverageBook(parts.keyTasks);
    this.unrecovered = parts.state.unrecovered;
    this.#retriesLeft = parts.retryBudget - parts.state.retries.length;
  }

  get signal(): AbortSignal {
    return this.#parts.control.signal;
  }

  requireRunning(): void {
    const { control, failure } = this.#parts;
    const error = failure();
    if (error !== undefined) throw error;
    control.requireRunning();
    if (this.over) throw new CandorError("task-over", "The task's callback has returned, so nothing new is started.");
  }

  requireUnreported(): void {
    if (this.#parts.state.reported === undefined) return;
    throw new CandorError("task-over", "The task is reported on, so nothing can be added to what its report says.");
  }

  /** In observe mode the agent retries as it always did. */
  get mayRetry(): boolean {
    return this.#parts.mode === "observe" || this.#retriesLeft > 0;
  }

  spendRetry(): void {
    this.#retriesLeft -= 1;
  }
}
