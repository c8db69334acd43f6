import type { TimerRequest } from "@candor/guards";
import { Heap } from "./heap.js";
import type { LogClock } from "./log-clock.js";

interface Armed {
  readonly key: string;
  readonly request: TimerRequest;
  /** Estimated log time in ms at which it is published, first or again. */
  readonly dueMs: number;
  /** How long to wait for it in the log after publishing it. */
  readonly patienceMs: number;
}

/** A timer that was published and not seen in the log is published again after this time, then after longer. */
const againMs = 3_000;
const longestAgainMs = 60_000;
/** The estimate of the log's time changes as messages come in, so a long sleep is cut up. */
const longestSleepMs = 10_000;
/** How many timers go out in one turn of the event loop. */
const burst = 200;

export interface LaneTimersOptions {
  readonly clock: LogClock;
  /** Publishes a timer event; repeated until the fold confirms or cancels it. */
  readonly fire: (request: TimerRequest) => void;
  /** How long after its deadline a timer is published: 0, or a little more while another guard leads. */
  readonly delayMs: () => number;
}

function keyOf({ run, task, timer }: TimerRequest): string {
  return `${run}/${task}/${timer}`;
}

/** All deadlines of a lane behind one timer of the system. */
export class LaneTimers {
  readonly #options: LaneTimersOptions;
  readonly #armed = new Map<string, Armed>();
  readonly #heap = new Heap<Armed>((a, b) => a.dueMs < b.dueMs);
  #sleep: NodeJS.Timeout | undefined;
  /** Due time that the sleep is for. */
  #wakesAtMs = Number.POSITIVE_INFINITY;
  #running = false;

  constructor(options: LaneTimersOptions) {
    this.#options = options;
  }

  get armed(): number {
    return this.#armed.size;
  }

  /** Arms a deadline, in place of an earlier one of the same task and kind. */
  arm(request: TimerRequest): void {
    this.#put(request, request.deadlineMs, againMs);
    this.#schedule();
  }

  cancel(request: TimerRequest): void {
    this.#armed.delete(keyOf(request));
    // What is cancelled stays in the heap until it is due, unless it becomes the greater part of it.
    if (this.#heap.size > 2 * this.#armed.size + 64) this.#heap.retain((armed) => this.#isCurrent(armed));
  }

  /** A timer was seen in the log, at its deadline or after it: whether it changed anything, it need not be published again. */
  seen(request: TimerRequest, timeMs: number): void {
    const armed = this.#armed.get(keyOf(request));
    if (armed?.request.deadlineMs === request.deadlineMs && timeMs >= request.deadlineMs) this.cancel(request);
  }

  /** Begins to publish, with what is armed already. */
  start(pending: readonly TimerRequest[]): void {
    this.#running = true;
    for (const request of pending) this.#put(request, request.deadlineMs, againMs);
    this.#schedule();
  }

  stop(): void {
    this.#running = false;
    clearTimeout(this.#sleep);
    this.#sleep = undefined;
    this.#wakesAtMs = Number.POSITIVE_INFINITY;
  }

  #put(request: TimerRequest, dueMs: number, patienceMs: number): void {
    const armed: Armed = { key: keyOf(request), request, dueMs, patienceMs };
    this.#armed.set(armed.key, armed);
    this.#heap.push(armed);
  }

  #isCurrent(armed: Armed): boolean {
    return this.#armed.get(armed.key) === armed;
  }

  /** Sleeps until the first deadline; a sleep that is short enough already is left alone. */
  #schedule(): void {
    const first = this.#heap.peek();
    if (!this.#running || first === undefined || first.dueMs >= this.#wakesAtMs) return;
    clearTimeout(this.#sleep);
    const { clock, delayMs } = this.#options;
    const waitMs = Math.min(longestSleepMs, Math.max(0, first.dueMs - clock.nowMs) + delayMs());
    this.#wakesAtMs = first.dueMs;
    this.#sleep = setTimeout(() => {
      this.#wake();
    }, Math.ceil(waitMs));
  }

  #wake(): void {
    this.#wakesAtMs = Number.POSITIVE_INFINITY;
    const { clock, fire } = this.#options;
    const nowMs = clock.nowMs;
    for (let sent = 0; sent < burst;) {
      const first = this.#heap.peek();
      if (first === undefined || first.dueMs > nowMs) break;
      this.#heap.pop();
      if (!this.#isCurrent(first)) continue;
      const { request, patienceMs } = first;
      this.#put(request, nowMs + patienceMs, Math.min(patienceMs * 2, longestAgainMs));
      fire(request);
      sent += 1;
    }
    this.#schedule();
  }
}
