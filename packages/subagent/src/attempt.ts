import { CandorError } from "@candor/contract";
import { currentAttempt, givenUp, inAttempt, type AttemptScope, type PriorAttempt } from "./attempt-scope.js";
import { CallLayer } from "./call-counts.js";
import { toFailure, type Classify, type Failure } from "./failure.js";
import { requireLabel } from "./label.js";
import { longestTimerMs, pause } from "./pause.js";
import type { TaskDesk } from "./task-desk.js";

export interface AttemptOptions {
  /** Key task of the brief that this call does. */
  readonly covers?: string;
  /** What is called, so that its health shows across tasks. */
  readonly upstream?: string;
  /** Tries in all; 1 by default, so that wrapping a call adds no retry. */
  readonly maxAttempts?: number;
  /**
   * Pause before the next try in ms, or a function of the number of failed tries. By default 100 ms doubling to 5 s, and
   * no less than the other side asked for (`Retry-After`): where that is over a minute, the call is given up instead.
   */
  readonly delayMs?: number | ((failed: number, failure: Failure) => number);
  /** Time limit of each try in ms; none by default. */
  readonly timeoutMs?: number;
  /** The agent's own types for its errors. */
  readonly classify?: Classify;
}

/** One try of a call. */
export interface Try {
  /** From 1. */
  readonly attempt: number;
  /** Aborted by the try's time limit and by a recall. */
  readonly signal: AbortSignal;
}

const longestDelayMs = 5_000;
/** A longer wait that the other side asks for is the receiver's to plan, not this call's to sit out. */
const longestRetryAfterMs = 60_000;
const defaultDelay = (failed: number, { retryAfterMs = 0 }: Failure): number =>
  Math.max(Math.min(100 * 2 ** (failed - 1), longestDelayMs), retryAfterMs);

/**
 * Calls `run`, and again where the failure is of a type that a repetition can help, until it succeeds, the tries or the
 * brief's retry budget are used up, or the task is recalled. Each failure and each retry is recorded when it happens.
 *
 * @param operation name of the call, up to 128 characters
 * @throws whatever the last try threw, unchanged; CandorError `recalled`, `fenced` or `task-over` once the task must stop
 */
export async function attempt<T>(
  desk: TaskDesk,
  operation: string,
  options: AttemptOptions,
  run: (attempt: Try) => Promise<T> | T,
): Promise<T> {
  checkOptions(operation, options);
  desk.requireRunning();
  desk.coverage.expect(options.covers);
  desk.work.calls += 1;
  return await desk.calls.follow({ operation, covers: options.covers }, (left) =>
    tryAll(desk, new Row(desk, operation, options, left()), options, run),
  );
}

async function tryAll<T>(
  desk: TaskDesk,
  row: Row,
  options: AttemptOptions,
  run: (attempt: Try) => Promise<T> | T,
): Promise<T> {
  for (;;) {
    const result = await row.try(run);
    if (result.ok || !result.again) row.count(result.ok);
    if (result.ok) {
      desk.work.succeeded += 1;
      desk.coverage.observe(options.covers, "done");
      return result.value;
    }
    if (!result.again) {
      desk.coverage.observe(options.covers, "failed");
      throw result.error;
    }
  }
}

type TryResult<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly again: boolean; readonly error: unknown };

/** The tries of one call, from the first to success or the end. */
class Row {
  readonly #desk: TaskDesk;
  readonly #operation: string;
  readonly #options: AttemptOptions;
  /** Aborted when the report is made without waiting for this call any longer. */
  readonly #left: AbortSignal;
  readonly #priors: PriorAttempt[];
  readonly #layer: CallLayer;
  /** False for one that goes on with what an earlier process began. */
  readonly #isFirst: boolean;
  /** Tries in this process. */
  #tries = 0;
  /** Number of the try, counting those of a process before. */
  #attempt = 0;
  /** Event of the error that the next try answers. */
  #reason: number | undefined;
  #delayMs = 0;

  constructor(desk: TaskDesk, operation: string, options: AttemptOptions, left: AbortSignal) {
    this.#desk = desk;
    this.#left = left;
    this.#operation = operation;
    this.#options = options;
    this.#layer = new CallLayer(operation, options.upstream, currentAttempt()?.layer);
    const before = desk.unrecovered.take(operation);
    this.#priors = [...(currentAttempt()?.priors ?? []), ...(before?.priors ?? [])];
    this.#isFirst = before === undefined;
    if (before !== undefined) this.#answer(before.seq, before.attempt);
  }

  /** The call is over. */
  count(ok: boolean): void {
    const { counts } = this.#desk;
    const { upstream } = this.#options;
    counts.end(this.#layer);
    if (upstream !== undefined) counts.use(upstream, { isFirst: this.#isFirst, tries: this.#tries, ok });
  }

  async try<T>(run: (attempt: Try) => Promise<T> | T): Promise<TryResult<T>> {
    this.#tries += 1;
    this.#attempt += 1;
    this.#layer.beginTry();
    const limit = new TryLimit([this.#desk.signal, this.#left], this.#operation, this.#options.timeoutMs);
    try {
      const call = { attempt: this.#attempt, signal: limit.signal };
      const value = await limit.race(inAttempt(this.#scope(), () => callNow(run, call)));
      await this.#recordRetry("ok");
      return { ok: true, value };
    } catch (error) {
      return await this.#failed(error);
    } finally {
      this.#layer.endTry();
      limit.end();
    }
  }

  async #failed<T>(error: unknown): Promise<TryResult<T>> {
    // The report says that this call was left; nothing can be told of it any more.
    if (this.#left.aborted) return { ok: false, again: false, error };
    const { classify, covers, upstream } = this.#options;
    const failure = toFailure(error, classify);
    const again = this.#canRetry(failure);
    const seq = await inAttempt(this.#scope(), () =>
      this.#desk.faults.failure(error, failure, { operation: this.#operation, upstream, covers }),
    );
    await this.#recordRetry(this.#desk.signal.aborted ? "abandoned" : "failed");
    if (seq === undefined) return { ok: false, again: false, error };
    this.#answer(seq, this.#attempt);
    if (!again) return { ok: false, again, error };
    this.#desk.spendRetry();
    this.#delayMs = this.#delayAfter(failure);
    try {
      await pause(this.#delayMs, AbortSignal.any([this.#desk.signal, this.#left]));
    } catch (stop) {
      return { ok: false, again: false, error: stop };
    }
    return { ok: false, again, error };
  }

  #canRetry(failure: Failure): boolean {
    const { maxAttempts = 1, delayMs } = this.#options;
    if (delayMs === undefined && (failure.retryAfterMs ?? 0) > longestRetryAfterMs) return false;
    return failure.retryable && this.#tries < maxAttempts && !this.#desk.signal.aborted && this.#desk.mayRetry;
  }

  #scope(): AttemptScope {
    return {
      attempt: this.#attempt,
      priors: [...this.#priors],
      finalityOf: (failure) => (this.#canRetry(failure) ? "recoverable" : givenUp(failure)),
      layer: this.#layer,
    };
  }

  /** The next try is an answer to this error. */
  #answer(reason: number, attempt: number): void {
    this.#priors.push({ attempt, reason, delayMs: this.#delayMs });
    this.#reason = reason;
    this.#attempt = attempt;
  }

  async #recordRetry(outcome: "ok" | "failed" | "abandoned"): Promise<void> {
    if (this.#reason === undefined) return;
    await this.#desk.faults.retry({
      operation: this.#operation,
      upstream: this.#options.upstream,
      attempt: this.#attempt,
      reason: this.#reason,
      delayMs: this.#delayMs,
      outcome,
    });
  }

  #delayAfter(failure: Failure): number {
    const { delayMs = defaultDelay } = this.#options;
    const wanted = typeof delayMs === "number" ? delayMs : delayMs(this.#tries, failure);
    return Number.isFinite(wanted) ? Math.max(0, Math.round(wanted)) : longestDelayMs;
  }
}

/** Also turns a throw before the first await into a rejection. */
async function callNow<T>(run: (attempt: Try) => Promise<T> | T, call: Try): Promise<T> {
  return await run(call);
}

/** The signal of one try, and the end of waiting for a call that does not heed it. */
class TryLimit {
  readonly #controller = new AbortController();
  readonly #outer: readonly AbortSignal[];
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #pass: () => void;

  /** @param outer signals that end every try of the call */
  constructor(outer: readonly AbortSignal[], operation: string, timeoutMs: number | undefined) {
    this.#outer = outer;
    this.#pass = () => {
      this.#controller.abort(outer.find(({ aborted }) => aborted)?.reason);
    };
    if (outer.some(({ aborted }) => aborted)) this.#pass();
    for (const signal of outer) signal.addEventListener("abort", this.#pass, { once: true });
    if (timeoutMs === undefined) return;
    this.#timer = setTimeout(
      () => {
        this.#controller.abort(new DOMException(`${operation} took longer than ${timeoutMs} ms.`, "TimeoutError"));
      },
      Math.min(timeoutMs, longestTimerMs),
    );
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** What the call comes to, or the reason of the signal as soon as it is aborted. */
  race<T>(call: Promise<T>): Promise<T> {
    const { signal } = this.#controller;
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        reject(signal.reason as Error);
      };
      signal.addEventListener("abort", stop, { once: true });
      call.then(resolve, reject).finally(() => {
        signal.removeEventListener("abort", stop);
      });
    });
  }

  end(): void {
    clearTimeout(this.#timer);
    for (const signal of this.#outer) signal.removeEventListener("abort", this.#pass);
  }
}

function checkOptions(operation: string, options: AttemptOptions): void {
  const { covers, upstream, maxAttempts = 1, timeoutMs = 1 } = options;
  requireLabel(operation, "operation");
  if (covers !== undefined) requireLabel(covers, "covers");
  if (upstream !== undefined) requireLabel(upstream, "upstream");
  if (!Number.isInteger(maxAttempts) || maxAttempts < 1) {
    throw new CandorError("bad-argument", `maxAttempts of ${operation} must be a whole number from 1.`, {
      path: "maxAttempts",
    });
  }
  if (!(timeoutMs > 0)) {
    throw new CandorError("bad-argument", `timeoutMs of ${operation} must be above 0.`, { path: "timeoutMs" });
  }
}
