import { CandorError, isCandorError, type LogEntry, type StoredMessage } from "@candor/contract";
import type { HistoryNeed, LaneFold, Output } from "@candor/guards";
import { admit, leafHash, verifySignature } from "@candor/ledger";
import { EntryQueue, type QueuedEntry } from "./entry-queue.js";
import type { LogPlace } from "./log-place.js";
import { RunFilter } from "./run-filter.js";
import type { SignatureAhead } from "./signature-ahead.js";

/** Entries and bytes that may wait for the fold; the reader then stops until half of them are gone. */
const maxEntries = 512;
const maxBytes = 4 * 1024 * 1024;
/** Entries folded in one turn of the event loop, so that everything else has its turn too. */
const slice = 128;
/** What making a signature check takes of a turn, in entries. */
const checkShare = 8;

export interface PipelineOptions {
  readonly lane: number;
  readonly fold: LaneFold;
  readonly ahead: SignatureAhead;
  /** Reads the entries of a run and a task below a sequence; tries until it can. */
  readonly readHistory: (need: HistoryNeed, belowSeq: number) => Promise<readonly LogEntry[]>;
  /** True while what the fold brings forth has no place to go. */
  readonly isBlocked: () => boolean;
  /** Takes what one entry brought forth, and its leaf. Called for every entry, in log order. */
  readonly onFolded: (item: QueuedEntry, outputs: readonly Output[]) => void;
  /** The lane can't go on. */
  readonly onFault: (error: CandorError) => void;
}

/**
 * One lane from message to fold: decode, start signature checks on other threads, queue, fold in log order. The queue is
 * bounded, and waits for whatever is slow behind it.
 */
export class LanePipeline {
  readonly #options: PipelineOptions;
  readonly #queue = new EntryQueue();
  readonly #runs = new RunFilter();
  /** A history is being read. */
  #reviving = false;
  #scheduled = false;
  /** Will be called when another thread has answered. */
  #awaited = false;
  #stopped = false;
  /** Lets the reader go on. */
  #makeRoom: (() => void) | undefined;
  #lastRead: LogPlace | undefined;
  #revivals = 0;

  constructor(options: PipelineOptions) {
    this.#options = options;
  }

  /** The last message that was delivered. */
  get lastRead(): LogPlace | undefined {
    return this.#lastRead;
  }

  /** Entries that wait for the fold. */
  get waiting(): number {
    return this.#queue.length;
  }

  /** How often a closed run or task was read again. */
  get revivals(): number {
    return this.#revivals;
  }

  /**
   * Takes the next messages of the lane.
   * @param isCaughtUp nothing else is stored: then the fold comes at once, so that verifying ahead of it gains nothing
   * @returns a promise to await before more are delivered, if too many wait already
   */
  deliver(batch: readonly StoredMessage[], isCaughtUp: boolean): Promise<void> | undefined {
    const alone = isCaughtUp && batch.length === 1 && this.#queue.length === 0;
    for (const message of batch) this.#take(message, !alone);
    this.#options.ahead.flush();
    this.run();
    if (this.#stopped || !this.#isFull()) return undefined;
    return new Promise((resolve) => {
      this.#makeRoom = resolve;
    });
  }

  /** Folds what can be folded now. To be called when `isBlocked` turns false. */
  readonly run = (): void => {
    if (this.#stopped || this.#reviving || this.#scheduled) return;
    try {
      this.#foldSlice();
    } catch (error) {
      this.#fail(error);
    }
    this.#announceRoom();
  };

  /** Drops what waits. */
  stop(): void {
    this.#stopped = true;
    this.#queue.clear();
    this.#announceRoom();
  }

  #take(message: StoredMessage, verifiesAhead: boolean): void {
    const { ahead } = this.#options;
    const entry = admit(message);
    const leaf = leafHash(message);
    this.#lastRead = { seq: message.seq, timeMs: message.timeMs, leaf };
    let checks;
    if (entry.type === "event") {
      ahead.learn(entry);
      if (verifiesAhead) checks = ahead.start(entry);
    }
    this.#queue.push({ entry, leaf, checks });
  }

  #isFull(): boolean {
    return this.#queue.length >= maxEntries || this.#queue.bytes >= maxBytes;
  }

  #foldSlice(): void {
    for (let left = slice; !this.#stopped;) {
      const item = this.#queue.peek();
      if (item === undefined || this.#options.isBlocked()) return;
      if (left <= 0) {
        this.#schedule();
        return;
      }
      if (item.checks?.isDone === false) {
        if (!this.#options.ahead.help()) {
          this.#await();
          return;
        }
        left -= checkShare;
        continue;
      }
      const need = this.#historyNeed(item.entry);
      if (need !== undefined) {
        void this.#revive(item, need);
        return;
      }
      this.#fold(item);
      left -= 1;
    }
  }

  #fold(item: QueuedEntry): void {
    const { fold, ahead, onFolded } = this.#options;
    this.#queue.shift();
    const { entry } = item;
    ahead.use(item.checks);
    const outputs = fold.fold(entry, ahead.verify);
    if (entry.type === "event" && entry.kind === "run-open" && fold.openTasksOf(entry.event.run) !== undefined) {
      this.#runs.add(entry.event.run);
    }
    onFolded(item, outputs);
  }

  /** A run that this lane never opened has no history; it was read from its first message on. */
  #historyNeed(entry: LogEntry): HistoryNeed | undefined {
    const need = this.#options.fold.needsHistory(entry);
    return need !== undefined && this.#runs.mayHold(need.run) ? need : undefined;
  }

  async #revive(item: QueuedEntry, first: HistoryNeed): Promise<void> {
    this.#reviving = true;
    try {
      for (let need: HistoryNeed | undefined = first; need !== undefined;) {
        const history: readonly LogEntry[] = await this.#options.readHistory(need, item.entry.seq);
        if (this.#stopped) return;
        need = this.#options.fold.revive(need, history, verifySignature);
      }
      this.#revivals += 1;
      this.#fold(item);
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#reviving = false;
    }
    this.run();
  }

  /** Goes on when another thread has answered. */
  #await(): void {
    if (this.#awaited) return;
    this.#awaited = true;
    this.#options.ahead.onAnswers(() => {
      this.#awaited = false;
      this.run();
    });
  }

  #schedule(): void {
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.run();
    });
  }

  #announceRoom(): void {
    if (this.#makeRoom === undefined) return;
    if (this.#queue.length > maxEntries / 2 || this.#queue.bytes > maxBytes / 2) return;
    this.#makeRoom();
    this.#makeRoom = undefined;
  }

  #fail(error: unknown): void {
    if (this.#stopped) return;
    this.stop();
    if (isCandorError(error)) this.#options.onFault(error);
    else {
      const seq = this.#lastRead?.seq ?? 0;
      const message = `Lane ${this.#options.lane} stopped near sequence ${seq}: the guard itself failed. Report this with the log line's cause.`;
      this.#options.onFault(new CandorError("defect", message, { cause: error }));
    }
  }
}
