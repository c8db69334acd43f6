import { setTimeout as pause } from "node:timers/promises";
import { CandorError, isCandorError, silentLogger, type Logger, type StoredMessage } from "@candor/contract";
import type { LaneReaderOptions } from "./lane-reader-options.js";
import { Backlog } from "./backlog.js";
import { isConnected, untilConnected, watchConnection } from "./connection-watch.js";
import type { Link } from "./link.js";
import { isRefusal } from "./jetstream-api.js";
import { PullConsumer } from "./pull-consumer.js";
import { StallWatch, type Waiting } from "./stall-watch.js";
import { isWorthReadingWide, passes } from "./wide-reading.js";

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
  readonly #stallWatch: StallWatch;
  readonly #backlog = new Backlog();
  #consumer: PullConsumer | undefined;
  /** Increases with each consumer, so that what a former one still says is not heard. */
  #generation = 0;
  /** The present consumer delivers the whole stream, and the filter is applied here. */
  #isWide = false;
  /** A wide consumer did not get on: whose message it can't hand out is not known. */
  #neverWide = false;
  #position: number;
  #batch: StoredMessage[] = [];
  #isScheduled = false;
  #handling: Promise<void> | undefined;
  #opening: Promise<void> | undefined;
  #trouble: CandorError | undefined;
  #refusedSince: number | undefined;
  #over = false;
  #restarts = 0;

  constructor(link: Link, options: LaneReaderOptions) {
    this.#link = link;
    this.#options = options;
    const { filter = [] } = options;
    this.#filters = typeof filter === "string" ? [filter] : filter;
    this.#maxOutstanding = options.maxOutstanding ?? 1_024;
    this.#logger = options.logger ?? silentLogger;
    this.#position = (options.from ?? 1) - 1;
    this.#stallWatch = new StallWatch({
      link,
      stream: options.stream,
      filters: this.#filters,
      everyMs: (options.heartbeatMs ?? 1_000) * 2,
      waiting: () => this.#waitingFor(),
      onWideStall: () => {
        this.#neverWide = true;
        this.#narrow();
      },
      onUnreadable: (seq) => {
        this.#haltAtUnreadable(seq);
      },
    });
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

  /** Why reading can't begin, or begin anew, at present. */
  get trouble(): CandorError | undefined {
    return this.#trouble;
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
    return this.#backlog.done();
  }

  /** Stops; resolves when the last batch is handled. */
  async close(): Promise<void> {
    this.#finish(closedError());
    await this.#handling;
  }

  async #open(): Promise<void> {
    for (let waitMs = shortestPauseMs; ; waitMs = Math.min(waitMs * 2, longestPauseMs)) {
      await this.#handling;
      await untilConnected(this.#link.nc, longestPauseMs);
      try {
        if (isConnected(this.#link.nc)) await this.#tryOpen();
      } catch (error) {
        if (isCandorError(error, ...final) || !isCandorError(error)) this.#halt(asCandorError(error));
        else this.#postpone(error);
      }
      if (this.#isSettled()) break;
      await pause(waitMs);
    }
    this.#opening = undefined;
  }

  /** Tries again later, unless the server itself says no for too long. */
  #postpone(error: CandorError): void {
    this.#logger.warn({ code: error.code, filter: this.#options.filter }, `can't read yet: ${error.message}`);
    this.#trouble = error;
    const { refusalPatienceMs = Number.POSITIVE_INFINITY } = this.#options;
    const now = performance.now();
    this.#refusedSince = isRefusal(error) ? (this.#refusedSince ?? now) : undefined;
    if (this.#refusedSince !== undefined && now - this.#refusedSince >= refusalPatienceMs) this.#halt(error);
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
    const isWide =
      !this.#neverWide &&
      (await isWorthReadingWide(this.#link, stream, this.#filters, this.#position, consumer.pending));
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
    this.#trouble = undefined;
    this.#refusedSince = undefined;
    this.#options.onOpen?.();
    this.#refill();
    this.#backlog.begin(consumer.pending);
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
    this.#backlog.interrupt();
    this.#isWide = false;
  }

  readonly #collect = (message: StoredMessage): void => {
    if (this.#isWide && !passes(this.#filters, message.subject)) this.#backlog.handled(1);
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
    this.#backlog.handled(count);
    this.#refill();
    if (this.#isWide && this.#consumer?.pending === 0 && this.#batch.length === 0) this.#narrow();
  }

  /** From here on the filter keeps away what is not wanted: new messages are found without looking through a block. */
  #narrow(): void {
    this.#drop();
    this.#opening ??= this.#open();
  }

  /** What is due from the server. */
  #waitingFor(): Waiting | undefined {
    const consumer = this.#consumer;
    if (consumer === undefined || this.#handling !== undefined || this.#batch.length > 0) return undefined;
    if (consumer.outstanding === 0 || consumer.pending === 0) return undefined;
    return { consumer, afterSeq: consumer.seq, isWide: this.#isWide };
  }

  #haltAtUnreadable(seq: number): void {
    const { stream } = this.#options;
    this.#halt(
      new CandorError(
        "log-truncated",
        `${stream}, sequence ${seq}: the server counts this message and does not hand it out: its store is damaged there.`,
        { details: { stream, seq } },
      ),
    );
  }

  #refill(): void {
    if (this.#consumer === undefined || this.#over) return;
    const { outstanding } = this.#consumer;
    const room = this.#maxOutstanding - outstanding - this.#batch.length;
    if (outstanding <= this.#maxOutstanding / 2) this.#consumer.pull(room);
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
    this.#stallWatch.stop();
    this.#drop();
    this.#backlog.end(error);
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
