import { isCandorError, type CandorError, type FinishReason, type Logger } from "@candor/contract";
import type { Control } from "./control.js";
import type { Stop, StopState } from "./intent-view.js";
import type { Recorder } from "./recorder.js";
import type { TaskState } from "./task-state.js";

export interface StoppingOptions {
  readonly recorder: Recorder;
  readonly state: TaskState;
  /** How long to wait for the guard's word on a recall before it is taken to hold, in ms. */
  readonly verdictMs: number;
  readonly logger: Logger;
}

/** What a report says when the task was stopped. */
const finishReasons = {
  recalled: "recalled",
  terminated: "terminated",
  superseded: "terminated",
  closed: "terminated",
} as const satisfies Record<StopState, FinishReason>;

/** Answers recalls and terminations by itself (R3, R6, R7), whatever the callback does. */
export class Stopping {
  readonly #options: StoppingOptions;
  #answering: Promise<unknown> = Promise.resolve();
  #rejected: Stop | undefined;

  constructor(options: StoppingOptions) {
    this.#options = options;
  }

  /** @param ready resolves once the task may record */
  answer(stop: Stop, control: Control, ready: Promise<void>): void {
    const answering = this.#answering
      .then(() => ready)
      .then(() => this.#answer(stop, control))
      .catch((error: unknown) => {
        this.#options.logger.warn({ error, stop: stop.state }, "a recall could not be acknowledged");
      });
    this.#answering = answering;
  }

  /** Waits until every recall so far is answered. */
  async answeredAll(): Promise<void> {
    await this.#answering;
  }

  /** Why the task ended; undefined if nothing stopped it. A recall that the guard rejected is no reason, but it cut the task off. */
  finishReason(stop: Stop | undefined): FinishReason | undefined {
    if (stop === undefined) return undefined;
    return this.#rejected === stop ? "error" : finishReasons[stop.state];
  }

  async #answer(stop: Stop, control: Control): Promise<void> {
    const { recorder, state, verdictMs, logger } = this.#options;
    const { book } = state;
    // The guard's word comes first; without one in time the recall is taken to hold.
    if ((await control.wordOn(stop.hash, verdictMs)) === false) {
      const forgiven = control.forgive(stop);
      if (!forgiven) this.#rejected = stop;
      logger.warn({ stop: stop.state, forgiven }, "the guard rejected an intent that had stopped this task");
      return;
    }
    const { control: number } = stop;
    if (number === undefined || state.answered.has(number)) return;
    await recorder.recordAll(({ last }) => {
      const payload = { control: number, manifest: book.manifest, takenAt: last };
      const acknowledge = { kind: "acknowledge", payload } as const;
      if (!book.isUntouched) return [acknowledge];
      // First, so that the acknowledgement finds it there and the recall is settled in one step.
      return [{ kind: "no-side-effects", payload: { control: number, takenAt: last } }, acknowledge];
    });
  }
}

/** True for the errors with which calls end because the task must stop. */
export function isStopError(error: unknown): error is CandorError {
  return isCandorError(error, "recalled", "fenced", "task-over");
}
