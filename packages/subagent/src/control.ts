import { setMaxListeners } from "node:events";
import { CandorError, hex, intentSubject, verdictSubject, type Logger } from "@candor/contract";
import type { GuardRecords } from "@candor/ledger";
import { isTaskIntent, openIntent, stopError, stopOf, stopStates, type Stop } from "./intent-view.js";
import { longestTimerMs, pause } from "./pause.js";
import type { Expectation, LiveFeed, LiveMessage, LookUp } from "./ports.js";

export interface ControlOptions {
  readonly bus: LookUp & LiveFeed;
  readonly place: { readonly lane: number; readonly run: string; readonly task: string; readonly epoch: number };
  readonly fleet: { readonly name: string; readonly key: string };
  readonly records: GuardRecords;
  /** The delegation that the task is done under. */
  readonly delegation: { readonly sequence: number; readonly hash: Uint8Array };
  /** Longest window after a recall that the brief allows, in ms. */
  readonly maxGraceMs: number | undefined;
  /** How long to wait for the guard's word on a new intent, in ms. */
  readonly verdictMs: number;
  /** Called at once for every reason to stop, before the guard has spoken on it. */
  readonly onStop: (stop: Stop) => void;
  readonly logger: Logger;
}

interface Latest {
  readonly sequence: number;
  readonly hash: Uint8Array | undefined;
}

/**
 * What the orchestrator wants of the task: follows its intents live and by look-up, stops the task at once when one
 * says so, and knows the sequence that dispatches are fenced by.
 */
export class Control {
  readonly #options: ControlOptions;
  readonly #subject: string;
  readonly #verdictSubject: string;
  /** What the guard said of an intent, by its hash in hex. */
  readonly #judged = new Map<string, boolean>();
  readonly #changed = new Set<() => void>();
  readonly #ends: (() => void)[] = [];
  #latest: Latest;
  #stop: Stop | undefined;
  #stopping = newController();
  #cutting = newController();
  #begun = false;
  #failure: CandorError | undefined;

  constructor(options: ControlOptions) {
    const { place, fleet, delegation } = options;
    this.#options = options;
    this.#latest = delegation;
    this.#subject = intentSubject({ ...place, fleet: fleet.name });
    this.#verdictSubject = verdictSubject({ ...place, judge: "intent" });
  }

  /** Aborted at the first reason to stop. */
  get signal(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Aborted when effects under way must end too: at a termination, or when the window of a recall is over. */
  get cutSignal(): AbortSignal {
    return this.#cutting.signal;
  }

  get stop(): Stop | undefined {
    return this.#stop;
  }

  /** Follows the intents. Ends with `close`. @throws CandorError `server-unreachable`, `log-rolled-back` */
  async start(): Promise<void> {
    const { bus, logger } = this.#options;
    this.#ends.push(
      bus.subscribe(this.#subject, (message) => {
        this.#see(message);
      }),
      bus.subscribe(this.#verdictSubject, (message) => {
        this.#hear(message.subject, message.data);
      }),
      bus.onReconnect(() => {
        this.refresh().catch((error: unknown) => {
          logger.warn({ error }, "could not look up the task's intents after a reconnect");
        });
      }),
    );
    await this.refresh();
  }

  /** Looks up what live delivery may have missed. @throws CandorError `server-unreachable`, `log-rolled-back` */
  async refresh(): Promise<void> {
    const { bus, delegation } = this.#options;
    const last = await bus.last("log", this.#subject);
    if (last === undefined || last.sequence < delegation.sequence) {
      const error = new CandorError(
        "log-rolled-back",
        `The log no longer has the delegation that was stored at sequence ${delegation.sequence}: stop and tell the operator.`,
      );
      this.fail(error);
      throw error;
    }
    this.#see({ ...last, subject: this.#subject });
    const verdict = await bus.last("verdicts", this.#verdictSubject);
    if (verdict !== undefined) this.#hear(this.#verdictSubject, verdict.data);
  }

  /** Ends everything, for a reason that nobody can acknowledge. */
  fail(error: CandorError): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    this.#stopping.abort(error);
    this.#cutting.abort(error);
  }

  get failure(): CandorError | undefined {
    return this.#failure;
  }

  /** From now on an abort can't be taken back. */
  begin(): void {
    this.#begun = true;
  }

  /** @throws CandorError `recalled`, `fenced` or `task-over` once the task must stop */
  requireRunning(): void {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#stop !== undefined) throw stopError(this.#stop.state);
  }

  /**
   * The fence of a dispatch: the last intent must still be the one that the task acts under. Waits, bounded, for the
   * guard's word on a newer one that gives no reason to stop, since one that it rejects does not count.
   *
   * @throws CandorError `recalled`, `fenced` or `task-over`
   */
  async fence(): Promise<Expectation> {
    for (;;) {
      this.requireRunning();
      const { sequence, hash } = this.#latest;
      const { delegation, verdictMs } = this.#options;
      if (sequence === delegation.sequence) return { subject: this.#subject, sequence };
      const word = hash === undefined ? undefined : await this.wordOn(hash, verdictMs);
      if (sequence !== this.#latest.sequence) continue;
      this.requireRunning();
      if (word !== undefined) return { subject: this.#subject, sequence };
      throw new CandorError(
        "fenced",
        `A new intent stands at sequence ${sequence} and no guard has spoken on it: no effect is started. See that a guard runs.`,
      );
    }
  }

  /** The guard's word on an intent: true if it holds; undefined if none comes within `timeoutMs`. */
  async wordOn(hash: Uint8Array, timeoutMs: number): Promise<boolean | undefined> {
    const key = hex(hash);
    const deadline = performance.now() + timeoutMs;
    if (!this.#judged.has(key)) await this.#askVerdict();
    while (!this.#judged.has(key)) {
      const left = deadline - performance.now();
      if (left <= 0) return undefined;
      await this.#change(left);
    }
    return this.#judged.get(key);
  }

  /** A rejected intent does not count: the task goes on if it had not begun. Otherwise it has been cut off and ends. */
  forgive(stop: Stop): boolean {
    if (this.#begun || this.#stop !== stop) return false;
    this.#stop = undefined;
    this.#stopping = newController();
    this.#cutting = newController();
    return true;
  }

  close(): void {
    for (const end of this.#ends.splice(0)) end();
  }

  #see(message: LiveMessage): void {
    if (message.sequence <= this.#latest.sequence) return;
    const { fleet, place, logger } = this.#options;
    try {
      const intent = openIntent(message, fleet.key);
      this.#latest = { sequence: message.sequence, hash: intent.hash };
      const stop = isTaskIntent(intent) ? stopOf(intent, place.epoch) : undefined;
      if (stop !== undefined) this.#halt(stop);
    } catch (error) {
      // The server fences by it all the same, so nothing is dispatched until a good one follows.
      this.#latest = { sequence: message.sequence, hash: undefined };
      logger.warn({ sequence: message.sequence, error }, "an intent of this task can't be trusted");
    }
    this.#notify();
  }

  #halt(stop: Stop): void {
    const current = this.#stop;
    if (current !== undefined && stopStates.indexOf(stop.state) < stopStates.indexOf(current.state)) return;
    this.#stop = stop;
    this.#stopping.abort(stopError(stop.state));
    if (stop.state === "terminated") this.#cutting.abort(stopError(stop.state));
    else this.#cutAfter(stop);
    this.#options.onStop(stop);
  }

  #cutAfter(stop: Stop): void {
    const cutting = this.#cutting;
    const graceMs = Math.min(stop.graceMs, this.#options.maxGraceMs ?? longestTimerMs, longestTimerMs);
    const timer = setTimeout(() => {
      cutting.abort(stopError(stop.state));
    }, graceMs);
    this.#ends.push(() => {
      clearTimeout(timer);
    });
  }

  #hear(subject: string, data: Uint8Array): void {
    const { records, place, logger } = this.#options;
    try {
      const { run, task, judge, intent, verdict, findings } = records.verdict(subject, data).verdict;
      if (intent === undefined || judge !== "intent" || run !== place.run || task !== place.task) return;
      const key = hex(intent.hash);
      // That a repeat was rejected does not undo the intent that it repeats.
      if (this.#judged.get(key) === true || findings.some(({ code }) => code === "intent-repeated")) return;
      this.#judged.set(key, verdict === "INTENT_ACCEPTED");
      if (verdict === "INTENT_REJECTED" && key === hex(this.#options.delegation.hash)) this.fail(rejected(task));
    } catch (error) {
      logger.warn({ error }, "a verdict on this task's intents can't be trusted");
    }
    this.#notify();
  }

  async #askVerdict(): Promise<void> {
    try {
      const last = await this.#options.bus.last("verdicts", this.#verdictSubject);
      if (last !== undefined) this.#hear(this.#verdictSubject, last.data);
    } catch {
      // Live delivery may still bring it.
    }
  }

  #notify(): void {
    for (const wake of this.#changed) wake();
  }

  async #change(timeoutMs: number): Promise<void> {
    const waking = new AbortController();
    const wake = (): void => {
      waking.abort();
    };
    this.#changed.add(wake);
    try {
      await pause(timeoutMs, waking.signal).catch(() => undefined);
    } finally {
      this.#changed.delete(wake);
    }
  }
}

/** What comes of work under a delegation that does not hold: nothing that counts. */
export function rejected(task: string): CandorError {
  return new CandorError(
    "intent-rejected",
    `The guard rejected the delegation of task ${task}: nothing done under it counts. Have it delegated again.`,
  );
}

/** Every call of a task listens to its signals, so their number says nothing about a leak. */
function newController(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}
