import { setTimeout as pause } from "node:timers/promises";
import { CandorError, isCandorError, silentLogger, type Logger, type StoredMessage } from "@candor/contract";
import { isConnected, untilConnected, watchConnection } from "./connection-watch.js";
import type { Link } from "./link.js";
import { PullConsumer } from "./pull-consumer.js";
import { isWorthReadingWide, passes } from "./wide-reading.js";

export interface LaneReaderOptions {
  readonly stream: string;
  /** Subject filters, `candor.log.<lane>.>` for a lane; they must not overlap. The whole stream without one. */
  readonly filter?: string | readonly string[];
  /** First stream sequence wanted; 1 by default. */
  readonly from?: number;
  /**
   * Gets the messages in order, each once. While a promise that it returns is pending, nothing more is handed over. Data and headers are views into what arrived: copy what is kept for long.
   */
  readonly onMessages: (batch: readonly StoredMessage[]) => void | Promise<void>;
  /**
   * Called with the sequence of the last message handed over (`from - 1` at first) before reading begins or begins
   * anew: at the start, after an interruption, and when the consumer had to be made again. Says whether the log is
   * still the one that was read.
   * @throws CandorError `log-rolled-back`, `log-truncated` or `log-altered` to halt the reader
   */
  readonly checkBefore?: (position: number) => Promise<void>;
  /** The reader has stopped for good and says why. */
  readonly onHalt: (error: CandorError) => void;
  /** Messages asked for and not yet handed over; 1,024 by default. */
  readonly maxOutstanding?: number;
  /** Heartbeats while nothing is stored; 1,000 by default. After two of silence the consumer is made anew. */
  readonly heartbeatMs?: number;
  readonly logger?: Logger;
}

const shortestPauseMs = 20;
const longestPauseMs = 1_000;
const final = ["log-rolled-back", "log-truncated", "log-altered", "permission-denied", "connection-closed"] as const;

/**
 * Reads what a filter lets through of a stream, in order, without a gap and without repeating, through restarts of the
 * server and changes of leader. Where its consumer is lost, misses heartbeats or leaves something out, it makes another that
 * begins after the last message it handed over.
 */
export class LaneReader {
  readonly #link: Link;
  readonly #options: LaneReaderOptions;
  readonly #filters: readonly string[];
  readonly #maxOutstanding: number;
  readonly #logger: Logger;
  readonly #stopWatching: () => void;
  #consumer: PullConsumer | undefined;
  /** Increases with each consumer, so that what a former one still says is not heard. */
  #generation = 0;
  /** The present consumer delivers the whole stream, and the filter is applied here. */
  #isWide = false;
  #position: number;
  #batch: StoredMessage[] = [];
  /** Messages that were stored when reading began and are not handled yet. */
  #backlog = 0;
  #isScheduled = false;
  #handling: Promise<void> | undefined;
  #opening: Promise<void> | undefined;
  #over = false;
  #restarts = 0;
  #waiters: { readonly resolve: () => void; readonly reject: (error: CandorError) => void }[] = [];

  constructor(link: Link, options: LaneReaderOptions) {
    this.#link = link;
    this.#options = options;
    const { filter = [] } = options;
    this.#filters = typeof filter === "string" ? [filter] : filter;
    this.#maxOutstanding = options.maxOutstanding ?? 1_024;
    this.#logger = options.logger ?? silentLogger;
    this.#position = (options.from ?? 1) - 1;
    this.#stopWatching = watchConnection(link.nc, {
      disconnected: () => {
        this.#drop();
      },
      reconnected: () => {
        this.#reopen("the connection was interrupted");
      },
      closed: () => {
        this.#halt(new CandorError("connection-closed", "The connection was closed while the log was being read."));
      },
    });
  }

  /** Begins to read. */
  start(): void {
    if (!this.#over) this.#opening ??= this.#open();
  }

  /** Stream sequence of the last message handed over. */
  get position(): number {
    return this.#position;
  }

  /** Messages that are stored and not yet handed over, as far as known. */
  get pending(): number {
    return (this.#consumer?.pending ?? 0) + this.#batch.length;
  }

  /** How often the consumer had to be made again. */
  get restarts(): number {
    return this.#restarts;
  }

  /**
   * Resolves once everything is handled that was stored when reading began, or last began anew.
   * @throws CandorError why the reader halted
   */
  caughtUp(): Promise<void> {
    if (this.#isCaughtUp()) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#waiters.push({ resolve, reject });
      if (this.#over) this.#release(closedError());
    });
  }

  /** Stops; resolves when the last batch is handled. */
  async close(): Promise<void> {
    this.#finish(closedError());
    await this.#handling;
  }

  #isCaughtUp(): boolean {
    return this.#consumer !== undefined && this.#backlog <= 0;
  }

  async #open(): Promise<void> {
    for (let waitMs = shortestPauseMs; ; waitMs = Math.min(waitMs * 2, longestPauseMs)) {
      await this.#handling;
      await untilConnected(this.#link.nc, longestPauseMs);
      try {
        if (isConnected(this.#link.nc)) await this.#tryOpen();
      } catch (error) {
        if (isCandorError(error, ...final) || !isCandorError(error)) this.#halt(asCandorError(error));
        else this.#logger.warn({ code: error.code, filter: this.#options.filter }, `can't read yet: ${error.message}`);
      }
      if (this.#isSettled()) break;
      await pause(waitMs);
    }
    this.#opening = undefined;
  }

  #isSettled(): boolean {
    return this.#over || this.#consumer !== undefined;
  }

  /** Makes a consumer, unless an interruption overtakes it. */
  async #tryOpen(): Promise<void> {
    const { stream, checkBefore, heartbeatMs = 1_000 } = this.#options;
    const generation = this.#generation;
    await checkBefore?.(this.#position);
    if (generation !== this.#generation) return;
    const isCurrent = (): boolean => generation === this.#generation && !this.#over;
    const open = (filters: readonly string[]): Promise<PullConsumer> =>
      PullConsumer.open(
        this.#link,
        { stream, filters, heartbeatMs, startSeq: this.#position + 1 },
        {
          // Only what is pulled comes, and a consumer that was let go of is closed.
          message: this.#collect,
          shortfall: () => {
            if (isCurrent()) this.#refill();
          },
          fault: (reason) => {
            if (isCurrent()) this.#reopen(reason);
          },
        },
      );
    let consumer = await open(this.#filters);
    const isWide = await isWorthReadingWide(this.#link, stream, this.#filters, this.#position, consumer.pending);
    if (isWide) {
      consumer.close();
      consumer = await open([]);
    }
    if (!isCurrent() || consumer.isOver) {
      consumer.close();
      return;
    }
    this.#isWide = isWide;
    this.#consumer = consumer;
    this.#backlog = consumer.pending;
    this.#refill();
    this.#wake();
  }

  #reopen(reason: string): void {
    if (this.#over) return;
    this.#restarts += 1;
    this.#logger.warn({ filter: this.#options.filter, position: this.#position }, `reading begins anew: ${reason}`);
    this.#drop();
    this.#opening ??= this.#open();
  }

  /** Lets go of the consumer and of what it brought that was not handed over. */
  #drop(): void {
    this.#generation += 1;
    this.#batch = [];
    this.#consumer?.close();
    this.#consumer = undefined;
    this.#isWide = false;
  }

  readonly #collect = (message: StoredMessage): void => {
    if (this.#isWide && !passes(this.#filters, message.subject)) this.#backlog -= 1;
    else this.#batch.push(message);
    if (this.#isScheduled || this.#handling !== undefined) return;
    this.#isScheduled = true;
    // After this the client has read all that arrived in one piece.
    queueMicrotask(this.#handScheduled);
  };

  readonly #handScheduled = (): void => {
    this.#isScheduled = false;
    this.#handOver();
  };

  #handOver(): void {
    if (this.#over || this.#handling !== undefined) return;
    const batch = this.#batch;
    if (batch.length === 0) {
      if (this.#isWide) this.#handled(0);
      return;
    }
    this.#batch = [];
    this.#position = (batch.at(-1) as StoredMessage).seq;
    // The server sends the next ones while these are handled.
    this.#refill();
    try {
      const handling = this.#options.onMessages(batch);
      if (handling === undefined) this.#handled(batch.length);
      else this.#handling = this.#await(handling, batch.length);
    } catch (error) {
      this.#halt(asCandorError(error));
    }
  }

  async #await(handling: Promise<void>, count: number): Promise<void> {
    try {
      await handling;
    } catch (error) {
      this.#halt(asCandorError(error));
    }
    this.#handling = undefined;
    this.#handled(count);
    this.#handOver();
  }

  #handled(count: number): void {
    this.#backlog -= count;
    this.#refill();
    if (this.#waiters.length > 0) this.#wake();
    if (this.#isWide && this.#consumer?.pending === 0 && this.#batch.length === 0) this.#narrow();
  }

  /** From here on the filter keeps away what is not wanted: new messages are found without looking through a block. */
  #narrow(): void {
    this.#drop();
    this.#opening ??= this.#open();
  }

  #refill(): void {
    if (this.#consumer === undefined || this.#over) return;
    const { outstanding } = this.#consumer;
    const room = this.#maxOutstanding - outstanding - this.#batch.length;
    if (outstanding <= this.#maxOutstanding / 2) this.#consumer.pull(room);
  }

  #wake(): void {
    if (!this.#isCaughtUp()) return;
    for (const { resolve } of this.#waiters.splice(0)) resolve();
  }

  #release(error: CandorError): void {
    for (const { reject } of this.#waiters.splice(0)) reject(error);
  }

  #halt(error: CandorError): void {
    if (this.#over) return;
    this.#finish(error);
    this.#options.onHalt(error);
  }

  #finish(error: CandorError): void {
    if (this.#over) return;
    this.#over = true;
    this.#stopWatching();
    this.#drop();
    this.#release(error);
  }
}

function closedError(): CandorError {
  return new CandorError("connection-closed", "The reader was closed.");
}

function asCandorError(error: unknown): CandorError {
  if (isCandorError(error)) return error;
  const what = error instanceof Error ? error.message : String(error);
  return new CandorError("defect", `Handling a message failed: ${what}. This is a defect; please report it.`, {
    cause: error,
  });
}
