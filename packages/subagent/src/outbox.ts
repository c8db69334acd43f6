import { CandorError, type EventKind, type Logger } from "@candor/contract";
import { pause, within } from "./pause.js";
import type { EventSink } from "./ports.js";

export interface OutboxEntry {
  readonly seq: number;
  readonly kind: EventKind;
  readonly subject: string;
  readonly frame: Uint8Array;
}

export interface OutboxOptions {
  readonly sink: EventSink;
  /** Resolves when everything handed over is on disk. */
  readonly sync: () => Promise<void>;
  /** Has everything handed over put on disk soon. */
  readonly flushSoon: () => void;
  /** Called for each entry once the log has it. */
  readonly onStored: (entry: OutboxEntry, sequence: number) => void;
  /** Called once, if the server or the disk will take no more. */
  readonly onFailure: (error: CandorError) => void;
  readonly logger: Logger;
}

/** How many events are under way at once; the guard's reorder buffer holds far more. */
const window = 64;
const firstRetryMs = 20;
const longestRetryMs = 1_000;

/**
 * Publishes events in order, many at a time, each not before it is on disk, and each again until the log has it. An outcome
 * of an effect that goes out alone is flushed soon after, as its dispatch is. What
 * arrives twice or late is no finding; what never arrives would be.
 */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #closing = new AbortController();
  #queue: OutboxEntry[] = [];
  #pending = 0;
  #pumping = false;
  #idle: (() => void)[] = [];
  /** Who waits for an entry of that number; each pending one has a place. */
  readonly #waiting = new Map<number, (() => void)[]>();
  #slots: (() => void)[] = [];
  #underWay = 0;
  #failure: CandorError | undefined;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** Events that the log is not yet known to have. */
  get pending(): number {
    return this.#pending;
  }

  push(entry: OutboxEntry): void {
    this.#pending += 1;
    this.#waiting.set(entry.seq, []);
    this.#queue.push(entry);
    if (!this.#pumping) void this.#pump();
  }

  /**
   * Waits until the log has everything pushed.
   * @throws CandorError `publish-unconfirmed` after `timeoutMs`; the events stay in the spool and are still sent. What stopped
   *   the outbox for good, at once
   */
  async drained(timeoutMs: number): Promise<void> {
    if (this.#pending === 0) return;
    const idle = new Promise<void>((resolve) => this.#idle.push(resolve));
    const done = await within(idle, timeoutMs);
    if (this.#failure !== undefined) throw this.#failure;
    if (done === undefined && this.#pending > 0) throw unconfirmed(this.#pending, timeoutMs);
  }

  /** Waits until the log has the entry of that number, or nothing is sent any more. */
  async stored(seq: number): Promise<void> {
    const waiting = this.#waiting.get(seq);
    if (waiting !== undefined && !this.#isStopped()) await new Promise<void>((resolve) => waiting.push(resolve));
  }

  /** Sends nothing more. What is pending stays in the spool. */
  close(): void {
    this.#closing.abort();
    this.#wakeAll();
  }

  async #pump(): Promise<void> {
    this.#pumping = true;
    try {
      while (this.#queue.length > 0 && !this.#isStopped()) {
        const batch = this.#queue;
        this.#queue = [];
        if (this.#pending > 1 || batch[0]?.kind !== "effect") await this.#options.sync();
        else this.#options.flushSoon();
        for (const entry of batch) {
          if (this.#underWay >= window) await new Promise<void>((resolve) => this.#slots.push(resolve));
          if (this.#isStopped()) return;
          this.#underWay += 1;
          void this.#deliver(entry);
        }
      }
    } catch (error) {
      this.#fail(error as CandorError);
    } finally {
      this.#pumping = false;
    }
  }

  #isStopped(): boolean {
    return this.#failure !== undefined || this.#closing.signal.aborted;
  }

  async #deliver(entry: OutboxEntry): Promise<void> {
    for (let delay = firstRetryMs; !this.#isStopped(); delay = Math.min(delay * 2, longestRetryMs)) {
      const answer = await this.#options.sink.publish(entry.subject, entry.frame);
      if (answer.outcome === "stored") {
        this.#settle(entry, answer.sequence);
        return;
      }
      if (answer.outcome === "refused") {
        this.#fail(answer.error);
        return;
      }
      this.#options.logger.debug({ seq: entry.seq, delay }, "event not confirmed; it is sent again");
      await pause(delay, this.#closing.signal).catch(() => undefined);
    }
  }

  #settle(entry: OutboxEntry, sequence: number): void {
    this.#options.onStored(entry, sequence);
    this.#pending -= 1;
    const waiting = this.#waiting.get(entry.seq) ?? [];
    this.#waiting.delete(entry.seq);
    for (const resolve of waiting) resolve();
    this.#underWay -= 1;
    this.#slots.shift()?.();
    if (this.#pending === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }

  #fail(error: CandorError): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    for (const resolve of [...this.#slots.splice(0), ...this.#idle.splice(0)]) resolve();
    this.#wakeAll();
    this.#options.onFailure(error);
  }

  #wakeAll(): void {
    for (const waiting of this.#waiting.values()) for (const resolve of waiting.splice(0)) resolve();
  }
}

/** What is said of events that the log does not confirm in time. */
export function unconfirmed(pending: number, timeoutMs: number): CandorError {
  return new CandorError(
    "publish-unconfirmed",
    `${pending} events are not confirmed by the log after ${timeoutMs} ms. They lie in the spool and are sent again; check that the server runs.`,
    { details: { pending } },
  );
}
