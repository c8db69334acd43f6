import { equalBytes, type Logger } from "@candor/contract";
import type { Checkpoint } from "@candor/ledger";
import type { LaneCounts } from "./lane-metrics.js";
import type { LaneTree } from "./lane-tree.js";
import { logFault } from "./log-place.js";
import { isPassing } from "./passing-trouble.js";

/** A checkpoint as stored, its signature checked. */
export interface StoredCheckpoint {
  /** Sequence in the verdict stream. */
  readonly seq: number;
  readonly checkpoint: Checkpoint;
}

/** Where the checkpoints of one lane are kept. */
export interface CheckpointStore {
  /** The last one; throws if no guard of this operator signed it. */
  readonly latest: () => Promise<StoredCheckpoint | undefined>;
  /**
   * Signs and stores one by compare-and-set.
   * @param after sequence of the one before it; 0 for the first
   * @returns its sequence, or undefined if another one was stored since
   */
  readonly store: (checkpoint: Checkpoint, after: number) => Promise<number | undefined>;
}

export interface CheckpointerOptions {
  readonly lane: number;
  readonly store: CheckpointStore;
  readonly tree: LaneTree;
  /** The lane as it is folded now; undefined before its first message. */
  readonly snapshot: () => Checkpoint | undefined;
  /** Resolves with true once every record brought forth so far is stored or adopted, with false if it never will be. */
  readonly settled: () => Promise<boolean>;
  /** The log is not the one that another guard read. */
  readonly onFault: (error: unknown) => void;
  readonly counts: LaneCounts;
  readonly logger: Logger;
  readonly everyEvents: number;
  readonly quietMs: number;
}

/**
 * Pins the lane every so many events, after a while of quiet, and when it stops, but only up to where all records are
 * stored. Whoever loses the compare-and-set compares roots, so that two guards on a lane watch each other's log.
 */
export class Checkpointer {
  readonly #options: CheckpointerOptions;
  /** The last stored checkpoint that is known. */
  #stored = { seq: 0, size: 0 };
  /** Another guard's, of a size that this one has yet to reach. */
  #awaited: Checkpoint | undefined;
  #underWay: Promise<void> | undefined;
  #tick: NodeJS.Timeout | undefined;
  #sizeAtTick = 0;

  constructor(options: CheckpointerOptions) {
    this.#options = options;
  }

  /** Begins with the checkpoint that the guard started from. */
  start(stored: StoredCheckpoint | undefined): void {
    if (stored !== undefined) this.#stored = { seq: stored.seq, size: stored.checkpoint.size };
  }

  /** To be called after each entry that was folded. */
  folded(): void {
    const { tree, everyEvents, quietMs } = this.#options;
    const { size } = tree;
    if (this.#awaited?.size === size) this.#compare(this.#awaited);
    if (size - this.#stored.size >= everyEvents && size % everyEvents === 0) this.#take();
    this.#tick ??= setTimeout(() => {
      this.#onTick();
    }, quietMs);
  }

  /** Takes a last checkpoint if there is something new, and ends. */
  async stop(): Promise<void> {
    clearTimeout(this.#tick);
    await this.#underWay;
    this.#take();
    await this.#underWay;
    clearTimeout(this.#tick);
  }

  /** Ends without a checkpoint. */
  abandon(): void {
    clearTimeout(this.#tick);
  }

  #onTick(): void {
    this.#tick = undefined;
    const { size } = this.#options.tree;
    const quiet = size === this.#sizeAtTick;
    this.#sizeAtTick = size;
    if (quiet) this.#take();
    if (size <= this.#stored.size) return;
    this.#tick = setTimeout(() => {
      this.#onTick();
    }, this.#options.quietMs);
  }

  #take(): void {
    const { snapshot, onFault, logger, lane } = this.#options;
    const mine = snapshot();
    if (this.#underWay !== undefined || mine === undefined || mine.size <= this.#stored.size) return;
    this.#underWay = this.#store(mine)
      .catch((error: unknown) => {
        if (!isPassing(error)) onFault(error);
        // The next one takes its place.
        else logger.warn({ lane, code: error.code }, `a checkpoint could not be stored: ${error.message}`);
      })
      .finally(() => {
        this.#underWay = undefined;
      });
  }

  async #store(mine: Checkpoint): Promise<void> {
    const { store, settled, counts, logger, lane } = this.#options;
    if (!(await settled())) return;
    while (this.#stored.size < mine.size) {
      const seq = await store.store(mine, this.#stored.seq);
      if (seq !== undefined) {
        this.#stored = { seq, size: mine.size };
        counts.checkpoints += 1;
        logger.debug({ lane, position: mine.position, size: mine.size }, "checkpoint stored");
        return;
      }
      const other = await store.latest();
      if (other === undefined || other.seq <= this.#stored.seq) continue;
      this.#stored = { seq: other.seq, size: other.checkpoint.size };
      this.#compare(other.checkpoint);
    }
  }

  #compare(other: Checkpoint): void {
    const { tree, lane, onFault, logger } = this.#options;
    if (other.size > tree.size) {
      this.#awaited = other;
      return;
    }
    this.#awaited = undefined;
    const root = tree.rootAt(other.size);
    if (root === undefined)
      logger.debug({ lane, size: other.size }, "another guard's checkpoint is too old to compare");
    else if (!equalBytes(root, other.root)) {
      const what = "another guard read other messages up to here than this one did.";
      onFault(logFault("log-altered", lane, other.position, what));
    }
  }
}
