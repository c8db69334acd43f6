import { CandorError, type Claim, type FinishReason, type Logger, type Report, type Scope } from "@candor/contract";
import { createContext, type TaskContext } from "./context.js";
import type { Control } from "./control.js";
import type { Effects } from "./effect.js";
import { toFailure, type Failure } from "./failure.js";
import type { IntentKeys } from "./intent-keys.js";
import { pause } from "./pause.js";
import type { Prose } from "./prose.js";
import type { Recorder } from "./recorder.js";
import { makeReport, readOutcome, type TaskOutcome } from "./report.js";
import { isStopError, type Stopping } from "./stopping.js";
import type { TaskDesk } from "./task-desk.js";
import type { TaskBrief, TaskId, TaskResult } from "./task-result.js";
import type { TaskState } from "./task-state.js";

export interface TaskParts {
  readonly id: TaskId;
  readonly brief: TaskBrief;
  readonly scope: Scope;
  readonly resumed: boolean;
  readonly recorder: Recorder;
  readonly control: Control;
  readonly stopping: Stopping;
  readonly effects: Effects;
  readonly state: TaskState;
  readonly keys: IntentKeys;
  readonly desk: TaskDesk & { over: boolean };
  readonly prose: Prose;
  /** Closes what the task holds. */
  readonly release: () => void;
  /** How long to wait for the log at the end, in ms. */
  readonly flushMs: number;
  readonly logger: Logger;
}

/** How long a callback that was cut off may take to end before the report is made without it. */
const cutMs = 1_000;

/** Operation under which errors of the callback itself are recorded. */
const wholeTask = "task";

/** What a task that was stopped can't claim any more, whatever the callback returned. */
const claimOfStopped: Partial<Readonly<Record<FinishReason, Claim>>> = { error: "fail", terminated: "none" };

interface Ending {
  readonly claim: Claim;
  readonly finishReason: FinishReason;
  readonly outcome?: TaskOutcome;
  readonly error?: unknown;
  readonly failure?: Failure;
}

/** A task that this process has accepted. */
export class SubagentTask {
  readonly #parts: TaskParts;
  readonly #caveats: string[] = [];
  #ran = false;
  #closing: Promise<void> | undefined;
  #released: () => void = () => undefined;
  /** Resolves once the task is given up in this process. */
  readonly closed: Promise<void>;

  constructor(parts: TaskParts) {
    this.#parts = parts;
    this.closed = new Promise((resolve) => (this.#released = resolve));
  }

  get id(): TaskId {
    return this.#parts.id;
  }

  get brief(): TaskBrief {
    return this.#parts.brief;
  }

  get scope(): Scope {
    return this.#parts.scope;
  }

  /** True after a restart: the callback runs again from its beginning, and effects that are done are not done again. */
  get resumed(): boolean {
    return this.#parts.resumed;
  }

  /** Aborted at once when the task is recalled, terminated, closed or delegated anew. */
  get signal(): AbortSignal {
    return this.#parts.control.signal;
  }

  /**
   * Does the task: runs the callback, turns whatever it throws into a typed error event, and reports. Receipts, retry
   * manifest, coverage and confidence are made from what was recorded, never by the callback.
   *
   * @param callback returns what it claims; without a claim the report says that none was made
   * @throws CandorError `fenced` if the task was delegated anew, `task-over` if it ran before, `log-rolled-back`, and what
   *   makes recording impossible (`spool-lost`, `folder-not-writable`, `permission-denied`). What the callback throws is in the result.
   */
  async run(callback: (context: TaskContext) => unknown): Promise<TaskResult> {
    const { control, desk, effects, stopping } = this.#parts;
    if (this.#ran) throw new CandorError("task-over", "This task has run already: a task is done once.");
    this.#ran = true;
    control.begin();
    const ending = await this.#work(callback);
    desk.over = true;
    await this.#unlessCut(effects.settled());
    await stopping.answeredAll();
    if (control.failure !== undefined) throw control.failure;
    if (control.stop?.state === "superseded") control.requireRunning();
    return await this.#report(ending);
  }

  /**
   * Waits until the log has everything recorded so far.
   * @throws CandorError `publish-unconfirmed`; what is unconfirmed lies in the spool
   */
  async flush(timeoutMs: number = this.#parts.flushMs): Promise<void> {
    const { recorder, keys } = this.#parts;
    await recorder.flush(timeoutMs);
    await keys.flush(timeoutMs);
  }

  /**
   * Sends what is still to be sent, and gives the task up in this process.
   * @throws CandorError `publish-unconfirmed` if the log did not confirm everything; the task is closed all the same
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Gives the task up at once, as the end of the process would: what is not sent yet stays in the spool. */
  abandon(): void {
    this.#parts.desk.over = true;
    this.#parts.release();
    this.#released();
  }

  async #close(): Promise<void> {
    this.#parts.desk.over = true;
    try {
      await this.#parts.stopping.answeredAll();
      if (this.#parts.recorder.failure === undefined) await this.flush();
    } finally {
      this.#parts.release();
      this.#released();
    }
  }

  async #work(callback: (context: TaskContext) => unknown): Promise<Ending> {
    const { control, desk, effects } = this.#parts;
    const left = desk.unrecovered.take(wholeTask);
    const context = createContext(desk, effects, this.#caveats);
    try {
      const cut = Symbol("cut");
      const value = await this.#unlessCut(callNow(callback, context), cut);
      const outcome = value === cut ? undefined : readOutcome(value);
      if (left !== undefined && outcome !== undefined) {
        const { seq: reason, attempt } = left;
        await desk.faults.retry({
          operation: wholeTask,
          upstream: undefined,
          attempt: attempt + 1,
          reason,
          delayMs: 0,
          outcome: "ok",
        });
      }
      return await this.#ended(outcome);
    } catch (error) {
      const failure = toFailure(error);
      const stopped = control.stop !== undefined && isStopError(error);
      if (!stopped && control.failure === undefined) {
        await desk.faults.failure(error, failure, { operation: wholeTask });
      }
      const finishReason = await this.#stopReason();
      return {
        claim: stopped && finishReason !== "error" ? "none" : "fail",
        finishReason: finishReason ?? "error",
        error,
        failure,
      };
    }
  }

  async #ended(outcome: TaskOutcome | undefined): Promise<Ending> {
    const finishReason = await this.#stopReason();
    if (outcome === undefined) return { claim: "none", finishReason: finishReason ?? "missing" };
    const claim = (finishReason && claimOfStopped[finishReason]) ?? outcome.claim;
    return { claim, finishReason: finishReason ?? "completed", outcome };
  }

  /** The guard's word on a recall decides over the reason, so its answer is awaited. */
  async #stopReason(): Promise<FinishReason | undefined> {
    const { control, stopping } = this.#parts;
    if (control.stop !== undefined) await stopping.answeredAll();
    return stopping.finishReason(control.stop);
  }

  /** Waits for `work`, but not past the moment when effects under way must end too. */
  async #unlessCut<T, C = undefined>(work: Promise<T>, cut?: C): Promise<T | C | undefined> {
    const { cutSignal } = this.#parts.control;
    const ending = new AbortController();
    const cutOff = aborted(AbortSignal.any([cutSignal, ending.signal])).then(async () => {
      if (!ending.signal.aborted) await pause(cutMs, ending.signal).catch(() => undefined);
      return cut;
    });
    try {
      return await Promise.race([work, cutOff]);
    } finally {
      ending.abort();
    }
  }

  async #report(ending: Ending): Promise<TaskResult> {
    const { recorder, desk, state, scope, brief, prose } = this.#parts;
    const { claim, finishReason, outcome, error, failure } = ending;
    const made: { report?: Report } = {};
    const { seq, hash } = await recorder.recordAll((moment) => {
      const { report, receipts } = makeReport(
        {
          claim,
          finishReason,
          coverage: desk.coverage.coverage,
          effects: state.book.declared,
          retries: state.retries,
          scope,
          keyTasks: brief.keyTasks,
          work: { ...desk.work },
          summary: outcome?.summary,
          caveats: this.#caveats,
          selfReportedConfidence: outcome?.selfReportedConfidence,
        },
        moment,
        prose,
      );
      made.report = report;
      return [
        ...receipts.map((payload) => ({ kind: "receipt", payload }) as const),
        { kind: "report", payload: report },
      ];
    });
    return {
      claim,
      finishReason,
      report: made.report as Report,
      seq,
      hash,
      stored: await this.#isStored(),
      ...(failure === undefined ? {} : { error, failure }),
    };
  }

  async #isStored(): Promise<boolean> {
    try {
      await this.flush();
      return true;
    } catch (error) {
      this.#parts.logger.warn({ error }, "the report is not confirmed by the log yet");
      return false;
    }
  }
}

async function callNow(callback: (context: TaskContext) => unknown, context: TaskContext): Promise<unknown> {
  return await callback(context);
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => {
      resolve();
    }, { once: true }); // prettier-ignore
  });
}
