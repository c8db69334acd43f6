import {
  CandorError,
  isCandorError,
  type Claim,
  type FinishReason,
  type Logger,
  type Report,
  type Scope,
} from "@candor/contract";
import { createContext, type TaskContext } from "./context.js";
import type { Control } from "./control.js";
import type { Effects } from "./effect.js";
import type { EvidenceBook } from "./evidence.js";
import { toFailure, type Failure } from "./failure.js";
import type { IntentKeys } from "./intent-keys.js";
import { pause, within } from "./pause.js";
import type { Prose } from "./prose.js";
import type { Recorder } from "./recorder.js";
import { makeReport, readOutcome, type TaskOutcome } from "./report.js";
import { isStopError, type Stopping } from "./stopping.js";
import type { TaskDesk } from "./task-desk.js";
import type { ApprovedAction, TaskBrief, TaskId, TaskResult } from "./task-result.js";
import type { TaskState } from "./task-state.js";

export interface TaskParts {
  readonly id: TaskId;
  readonly brief: TaskBrief;
  readonly approved: readonly ApprovedAction[];
  readonly scope: Scope;
  readonly resumed: boolean;
  readonly recorder: Recorder;
  readonly control: Control;
  readonly stopping: Stopping;
  readonly effects: Effects;
  readonly evidence: EvidenceBook;
  readonly state: TaskState;
  readonly keys: IntentKeys;
  readonly desk: TaskDesk & { over: boolean };
  readonly prose: Prose;
  /** Closes what the task holds. */
  readonly release: () => void;
  readonly limits: { readonly flushMs: number; readonly openCallsMs: number };
  readonly logger: Logger;
}

/** How long a callback that was cut off may take to end before the report is made without it. */
const cutMs = 1_000;

/** Operation under which errors of the callback itself are recorded. */
const wholeTask = "task";

/** What a task that was stopped can't claim any more, whatever the callback returned. */
const claimOfStopped: Partial<Readonly<Record<FinishReason, Claim>>> = { error: "fail", terminated: "none" };

/** What the callback came to. */
type Worked =
  | { readonly type: "returned"; readonly outcome: TaskOutcome | undefined }
  /** `stopped`: with the error with which calls end once the task must stop. */
  | {
      readonly type: "threw";
      readonly stopped: boolean;
      readonly error: unknown;
      readonly failure: Failure;
      readonly seq: number | undefined;
    };

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

  /** Planned actions of the report before that a person approved, each with the name of its effect (U4). */
  get approved(): readonly ApprovedAction[] {
    return this.#parts.approved;
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
   * @param callback returns what it claims; without a claim the report says that none was made. Calls that it leaves
   *   running are waited for (`openCallsMs`; after a recall, its window); what runs on after that is named in a caveat
   * @throws CandorError `fenced` if the task was delegated anew, `task-over` if it ran before, `log-rolled-back`, and what
   *   makes recording impossible (`publish-unconfirmed` while the log does not say whether it has a dispatch, `spool-lost`,
   *   `folder-not-writable`, `permission-denied`). What the callback throws is in the result.
   */
  async run(callback: (context: TaskContext) => unknown): Promise<TaskResult> {
    const { control, desk, effects, stopping } = this.#parts;
    if (this.#ran) throw new CandorError("task-over", "This task has run already: a task is done once.");
    this.#ran = true;
    control.begin();
    const worked = await this.#work(callback);
    desk.over = true;
    await this.#settle();
    await stopping.answeredAll();
    if (control.failure !== undefined) throw control.failure;
    if (control.stop?.state === "superseded") {
      effects.voidClaims();
      control.requireRunning();
    }
    return await this.#report(worked);
  }

  /**
   * Waits until the log has everything recorded so far.
   * @throws CandorError `publish-unconfirmed`; what is unconfirmed lies in the spool
   */
  async flush(timeoutMs: number = this.#parts.limits.flushMs): Promise<void> {
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
    const { desk, stopping, recorder, limits } = this.#parts;
    desk.over = true;
    try {
      await within(stopping.answeredAll(), limits.flushMs);
      const { failure } = recorder;
      if (failure === undefined) await this.flush();
      else if (isCandorError(failure, "publish-unconfirmed")) throw failure;
    } finally {
      this.#parts.release();
      this.#released();
    }
  }

  async #work(callback: (context: TaskContext) => unknown): Promise<Worked> {
    const { control, desk, effects, evidence } = this.#parts;
    const left = desk.unrecovered.take(wholeTask);
    const context = createContext(desk, effects, evidence, this.#caveats);
    try {
      const cut = Symbol("cut");
      const value = await this.#unlessCut(callNow(callback, context), cut);
      const outcome = value === cut ? undefined : readOutcome(value);
      if (outcome?.evidence !== undefined) await evidence.refer(outcome.evidence);
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
      return { type: "returned", outcome };
    } catch (error) {
      const failure = toFailure(error);
      const stopped = control.stop !== undefined && isStopError(error);
      const isTold = !stopped && control.failure === undefined;
      const seq = isTold ? await desk.faults.failure(error, failure, { operation: wholeTask }) : undefined;
      return { type: "threw", stopped, error, failure, seq };
    }
  }

  /** Waits for calls that outlive the callback. Those that go on after that are named in the report. */
  async #settle(): Promise<void> {
    const { control, desk, effects, limits } = this.#parts;
    const ended = desk.calls.settled();
    await this.#unlessCut(within(ended, limits.openCallsMs));
    // How long effects may take after a recall is for its window to say.
    if (control.stop !== undefined) await this.#unlessCut(ended);
    await this.#unlessCut(effects.settled());
    const over = new CandorError("task-over", "The task is reported on, and this call was still running: it was left.");
    const left = desk.calls.leave(over);
    if (left.length === 0) return;
    for (const { covers } of left) desk.coverage.leave(covers);
    const names = [...new Set(left.map(({ operation }) => operation))].join(", ");
    this.#caveats.push(
      `${left.length} calls were still running when the task's work had ended, and what came of them is not in this report: ${names}.`,
    );
  }

  /** What the report may claim. The guard's word on a recall decides over the reason, so its answer must be there. */
  #conclude(worked: Worked): { readonly claim: Claim; readonly finishReason: FinishReason } {
    const { control, stopping } = this.#parts;
    const stopReason = stopping.finishReason(control.stop);
    if (worked.type === "threw") {
      const isStopped = worked.stopped && stopReason !== "error";
      return { claim: isStopped ? "none" : "fail", finishReason: stopReason ?? "error" };
    }
    if (worked.outcome === undefined) return { claim: "none", finishReason: stopReason ?? "missing" };
    const claim = (stopReason && claimOfStopped[stopReason]) ?? worked.outcome.claim;
    return { claim, finishReason: stopReason ?? "completed" };
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

  async #report(worked: Worked): Promise<TaskResult> {
    const { recorder, desk, effects, evidence, state, scope, brief, prose } = this.#parts;
    const { claim, finishReason } = this.#conclude(worked);
    const outcome = worked.type === "returned" ? worked.outcome : undefined;
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
          work: { calls: desk.work.calls, succeeded: desk.work.succeeded },
          consumed: desk.work.consumed,
          upstreams: desk.counts.upstreams,
          amplification: desk.counts.amplification,
          summary: outcome?.summary,
          caveats: this.#caveats,
          evidence: evidence.reported,
          selfReportedConfidence: outcome?.selfReportedConfidence,
          failure:
            claim === "fail"
              ? state.told.statement(
                  moment.tally,
                  worked.type === "threw" ? worked.seq : undefined,
                  state.book.committed,
                )
              : undefined,
          // A task that was stopped can't report on its work as it meant to.
          upwardReport: claim === outcome?.claim ? outcome.upwardReport : undefined,
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
    effects.voidClaims();
    return {
      claim,
      finishReason,
      report: made.report as Report,
      seq,
      hash,
      stored: await this.#isStored(),
      ...(worked.type === "threw" ? { error: worked.error, failure: worked.failure } : {}),
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
