import { setTimeout as pause } from "node:timers/promises";
import { CandorError, hex, type Logger } from "@candor/contract";
import { LaneFold, type Output, type TimerRequest } from "@candor/guards";
import { Checkpointer, type StoredCheckpoint } from "./checkpointer.js";
import type { QueuedEntry } from "./entry-queue.js";
import { initialCounts, type LaneCounts } from "./lane-metrics.js";
import { LanePipeline } from "./lane-pipeline.js";
import type { LanePorts, LaneSource, RecordSink } from "./lane-ports.js";
import { snapshotLane } from "./lane-snapshot.js";
import { LaneTimers } from "./lane-timers.js";
import { LaneTree } from "./lane-tree.js";
import type { LaneState, LaneView, StateQuery } from "./lane-view.js";
import { LogClock } from "./log-clock.js";
import type { LogPlace } from "./log-place.js";
import { isPassing } from "./passing-trouble.js";
import { requireKnownFold, requirePinnedLog } from "./pinned-log.js";
import { SignatureAhead } from "./signature-ahead.js";

export interface LaneRunnerOptions {
  readonly lane: number;
  /** Name of the guard, for people. */
  readonly guard: string;
  /** Public key of the operator. */
  readonly operator: string;
  readonly ports: LanePorts;
  readonly logger: Logger;
  /** A checkpoint is taken every so many events. */
  readonly everyEvents: number;
  /** A checkpoint is taken after this long without an event. */
  readonly quietMs: number;
  /** How long a guard that is not leading waits for the leader to publish a timer. */
  readonly standbyMs: number;
}

/** One lane of a guard: reads, folds, publishes, and stops for good when the log is not the one it was. */
export class LaneRunner {
  readonly lane: number;
  /** Resolves when the lane has halted. */
  readonly ended: Promise<CandorError>;
  /** Resolves when the lane is read for the first time, or will never be. */
  readonly reading: Promise<void>;
  readonly #options: LaneRunnerOptions;
  readonly #fold: LaneFold;
  readonly #ahead: SignatureAhead;
  readonly #tree = new LaneTree();
  readonly #clock = new LogClock();
  readonly #pipeline: LanePipeline;
  readonly #timers: LaneTimers;
  readonly #sink: RecordSink;
  readonly #checkpointer: Checkpointer;
  readonly #counts: LaneCounts = initialCounts();
  readonly #diverged = new Set<string>();
  #source: LaneSource | undefined;
  #state: LaneState = "checking";
  #halted: CandorError | undefined;
  #end: (error: CandorError) => void = () => undefined;
  #begin: () => void = () => undefined;
  /** The checkpoint up to which the lane is folded silently. */
  #from: StoredCheckpoint | undefined;
  #position: LogPlace | undefined;
  /** All that was stored when the lane was opened has been delivered. */
  #caughtUp = false;
  #timersRun = false;

  constructor(options: LaneRunnerOptions) {
    const { lane, operator, ports, logger, everyEvents, quietMs, standbyMs } = options;
    this.lane = lane;
    this.#options = options;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.reading = new Promise((resolve) => {
      this.#begin = resolve;
    });
    this.#fold = new LaneFold(lane, { operator });
    this.#ahead = new SignatureAhead(operator, ports.threads);
    this.#sink = ports.openSink({
      onRoom: () => {
        this.#pipeline.run();
      },
      onDivergence: (error) => {
        this.#onDivergence(error);
      },
      onFault: this.#halt,
    });
    this.#pipeline = new LanePipeline({
      lane,
      fold: this.#fold,
      ahead: this.#ahead,
      readHistory: ports.readHistory,
      isBlocked: () => this.#sink.isFull,
      onFolded: this.#onFolded,
      onFault: this.#halt,
    });
    this.#timers = new LaneTimers({
      clock: this.#clock,
      fire: (request) => {
        this.#fire(request);
      },
      delayMs: () => (this.#sink.isStandby ? standbyMs : 0),
    });
    this.#checkpointer = new Checkpointer({
      lane,
      store: ports.checkpoints,
      tree: this.#tree,
      snapshot: () => this.#position && snapshotLane(lane, this.#position, this.#tree, this.#fold),
      settled: () => this.#sink.settled(),
      onFault: this.#halt,
      counts: this.#counts,
      logger,
      everyEvents,
      quietMs,
    });
  }

  get halted(): CandorError | undefined {
    return this.#halted;
  }

  /** Checks the log against the last checkpoint and begins to read. A fault halts the lane; it is not thrown. */
  async start(): Promise<void> {
    const { ports } = this.#options;
    try {
      this.#from = await this.#readCheckpoint();
      if (this.#isOver) return;
      const pinned = this.#from?.checkpoint;
      if (pinned !== undefined) requireKnownFold(pinned);
      this.#checkpointer.start(this.#from);
      this.#source = ports.openSource({
        onReading: this.#onReading,
        knownPlace: () => this.#knownPlace(),
        onServerTime: (timeMs) => {
          this.#clock.observe(timeMs);
        },
        onMessages: (batch, pending) => {
          const last = batch.at(-1);
          if (last !== undefined) this.#clock.observe(last.timeMs);
          return this.#pipeline.deliver(batch, pending === 0);
        },
        onCaughtUp: () => {
          this.#caughtUp = true;
          this.#startTimers();
        },
        onFault: this.#halt,
      });
    } catch (error) {
      this.#halt(error);
    }
  }

  /** Stores what is decided, takes a last checkpoint, and ends. */
  async stop(): Promise<void> {
    if (this.#isOver) return;
    const wasLive = this.#state === "live";
    this.#state = "stopped";
    this.#begin();
    this.#pipeline.stop();
    this.#timers.stop();
    await this.#source?.close();
    await this.#sink.settled();
    if (wasLive) await this.#checkpointer.stop();
    this.#checkpointer.abandon();
    this.#sink.close();
  }

  view({ run, task }: StateQuery = {}): LaneView {
    const tasks = run === undefined ? undefined : this.#fold.openTasksOf(run);
    const view = run === undefined || task === undefined ? undefined : this.#fold.taskView(run, task);
    return {
      lane: this.lane,
      guard: this.#options.guard,
      state: this.#state,
      position: this.#position?.seq ?? 0,
      timeMs: this.#position?.timeMs ?? 0,
      size: this.#tree.size,
      root: hex(this.#tree.root()),
      lag: (this.#source?.pending ?? 0) + this.#pipeline.waiting,
      underWay: this.#sink.underWay,
      openTasks: this.#fold.openTasks,
      timers: this.#timers.armed,
      diverged: [...this.#diverged],
      metrics: {
        ...this.#counts,
        ...this.#sink.counts,
        revivals: this.#pipeline.revivals,
        verifiedInline: this.#ahead.missed,
      },
      ...(this.#halted === undefined ? {} : { halted: { code: this.#halted.code, message: this.#halted.message } }),
      ...(this.trouble === undefined ? {} : { trouble: { code: this.trouble.code, message: this.trouble.message } }),
      ...(tasks === undefined ? {} : { tasks }),
      ...(view === undefined ? {} : { task: view }),
    };
  }

  /** Estimated log time in ms, while the lane is live and folded to its end; undefined else. */
  get upToDateMs(): number | undefined {
    if (this.#state !== "live" || !this.#caughtUp) return undefined;
    return (this.#source?.pending ?? 0) + this.#pipeline.waiting === 0 ? this.#clock.nowMs : undefined;
  }

  /** True for a run that is open in this lane. */
  isOpen(run: string): boolean {
    return this.#fold.openTasksOf(run) !== undefined;
  }

  get #isOver(): boolean {
    return this.#state === "halted" || this.#state === "stopped";
  }

  /** Why the lane can't be read at present. */
  get trouble(): CandorError | undefined {
    return this.#source?.trouble;
  }

  readonly #onReading = (): void => {
    if (this.#state !== "checking") return;
    const pinned = this.#from?.checkpoint;
    this.#state = pinned === undefined ? "live" : "replaying";
    const { logger, lane } = this.#options;
    logger.info({ lane, from: pinned?.position ?? 0 }, "lane is read");
    this.#begin();
  };

  /** Waits for a server that is away or without a leader. */
  async #readCheckpoint(): Promise<StoredCheckpoint | undefined> {
    const { ports, lane, logger } = this.#options;
    for (;;) {
      try {
        return await ports.checkpoints.latest();
      } catch (error) {
        if (!isPassing(error) || this.#isOver) throw error;
        logger.warn({ lane, code: error.code }, `the lane's checkpoint can't be read yet: ${error.message}`);
        await pause(500);
      }
    }
  }

  /** The latest message that the log must still hold: what was read, else what the checkpoint pins. */
  #knownPlace(): LogPlace | undefined {
    const pinned = this.#from?.checkpoint;
    const read = this.#pipeline.lastRead;
    if (pinned === undefined) return read;
    return read !== undefined && read.seq > pinned.position ? read : { seq: pinned.position, ...pinned };
  }

  readonly #onFolded = (item: QueuedEntry, outputs: readonly Output[]): void => {
    const { entry, leaf } = item;
    this.#tree.append(leaf);
    this.#position = { seq: entry.seq, timeMs: entry.timeMs, leaf };
    if (this.#state === "replaying") {
      this.#counts.replayed += 1;
      this.#compareWithCheckpoint(entry.seq);
      return;
    }
    this.#counts.events += 1;
    if (entry.type === "event" && entry.kind === "timer") {
      const { timer, deadlineMs } = entry.payload;
      this.#timers.seen({ ...entry.event, timer, deadlineMs }, entry.timeMs);
    }
    for (const output of outputs) this.#put(output, entry.timeMs);
    this.#checkpointer.folded();
  };

  #put(output: Output, entryTimeMs: number): void {
    switch (output.type) {
      case "timer":
        // Armed again by a timer event that came too early: the estimate of the log's time was ahead.
        if (entryTimeMs < output.deadlineMs && this.#clock.nowMs > output.deadlineMs) this.#clock.correct(entryTimeMs);
        this.#timers.arm(output);
        return;
      case "timer-cancelled":
        this.#timers.cancel(output);
        return;
      case "verdict":
        this.#counts.verdicts += 1;
        this.#sink.put(output);
        return;
      case "quarantine":
        this.#counts.quarantined += 1;
        this.#sink.put(output);
    }
  }

  /** Up to the checkpoint's position nothing is published, and after it only if the log is as the checkpoint pins it. */
  #compareWithCheckpoint(seq: number): void {
    const pinned = this.#from?.checkpoint;
    if (pinned === undefined || seq < pinned.position) return;
    requirePinnedLog(pinned, seq, this.#tree);
    this.#state = "live";
    this.#options.logger.info({ lane: this.lane, position: seq, size: pinned.size }, "the log is as it was pinned");
    this.#startTimers();
  }

  /** Not before the lane is caught up: most old deadlines are dealt with later in the log. */
  #startTimers(): void {
    if (this.#state !== "live" || !this.#caughtUp || this.#timersRun) return;
    this.#timersRun = true;
    this.#timers.start(this.#fold.pendingTimers());
  }

  #fire(request: TimerRequest): void {
    this.#counts.timersFired += 1;
    this.#options.ports.publishTimer(request, this.#clock.nowMs);
  }

  #onDivergence(error: CandorError): void {
    const { subject } = error.details;
    if (typeof subject === "string") this.#diverged.add(subject);
    this.#options.logger.error({ lane: this.lane, code: error.code, ...error.details }, error.message);
  }

  readonly #halt = (error: unknown): void => {
    if (this.#isOver) return;
    const cause =
      error instanceof CandorError
        ? error
        : new CandorError("defect", `Lane ${this.lane} stopped: the guard itself failed. Report this.`, {
            cause: error,
          });
    this.#halted = cause;
    this.#state = "halted";
    this.#begin();
    this.#pipeline.stop();
    this.#timers.stop();
    this.#checkpointer.abandon();
    this.#sink.close();
    void this.#source?.close();
    const { logger, lane } = this.#options;
    logger.error({ lane, code: cause.code, ...cause.details, err: cause.cause }, `lane halted: ${cause.message}`);
    this.#end(cause);
  };
}
