import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { CandorError, sha256, silentLogger, utf8 } from "@candor/contract";
import { merkleRoot, type Checkpoint } from "@candor/ledger";
import { Checkpointer, type StoredCheckpoint } from "./checkpointer.js";
import { initialCounts } from "./lane-metrics.js";
import { LaneTree } from "./lane-tree.js";

const leaves = Array.from({ length: 100 }, (_, i) => sha256(utf8(`leaf ${i}`)));

/** A checkpoint over the first leaves of the log, or of another log. */
function checkpointAt(size: number, log = leaves): Checkpoint {
  const root = merkleRoot(log.slice(0, size));
  const leaf = log[size - 1] ?? new Uint8Array(32);
  return { lane: 3, size, root, position: size * 2, timeMs: size, leaf, fold: 1, policies: [] };
}

/** A verdict stream that keeps checkpoints, with other guards on it. */
class Shelf {
  readonly stored: StoredCheckpoint[] = [];
  trouble: CandorError | undefined;

  put(checkpoint: Checkpoint): number {
    const seq = this.stored.length + 1;
    this.stored.push({ seq, checkpoint });
    return seq;
  }

  readonly latest = (): Promise<StoredCheckpoint | undefined> => Promise.resolve(this.stored.at(-1));

  readonly store = (checkpoint: Checkpoint, after: number): Promise<number | undefined> => {
    if (this.trouble !== undefined) return Promise.reject(this.trouble);
    return Promise.resolve(after === this.stored.length ? this.put(checkpoint) : undefined);
  };
}

function stage(shelf = new Shelf()) {
  const tree = new LaneTree();
  const faults: unknown[] = [];
  const settling: ((settled: boolean) => void)[] = [];
  const checkpointer = new Checkpointer({
    lane: 3,
    store: shelf,
    tree,
    snapshot: () => (tree.size === 0 ? undefined : checkpointAt(tree.size)),
    settled: () => new Promise((resolve) => settling.push(resolve)),
    onFault: (error) => faults.push(error),
    counts: initialCounts(),
    logger: silentLogger,
    everyEvents: 10,
    quietMs: 1_000,
  });
  return {
    shelf,
    checkpointer,
    faults,
    fold: (count: number) => {
      for (let i = 0; i < count; i += 1) {
        tree.append(leaves[tree.size] ?? new Uint8Array(32));
        checkpointer.folded();
      }
    },
    settle: async (settled = true) => {
      for (const resolve of settling.splice(0)) resolve(settled);
      await vi.advanceTimersByTimeAsync(0);
    },
    sizes: () => shelf.stored.map(({ checkpoint }) => checkpoint.size),
  };
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("checkpoints of a lane", () => {
  it("are taken every so many events, but only once all records up to there are stored", async () => {
    const { fold, settle, sizes } = stage();
    fold(12);
    await vi.advanceTimersByTimeAsync(500);
    expect(sizes()).toEqual([]);
    await settle();
    expect(sizes()).toEqual([10]);
  });

  it("are taken after a while of quiet, and not again without news", async () => {
    const { fold, settle, sizes } = stage();
    fold(3);
    await vi.advanceTimersByTimeAsync(2_100);
    await settle();
    expect(sizes()).toEqual([3]);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(sizes()).toEqual([3]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("are taken at a graceful stop", async () => {
    const { checkpointer, fold, settle, sizes } = stage();
    fold(4);
    const stopped = checkpointer.stop();
    await settle();
    await settle();
    await stopped;
    expect(sizes()).toEqual([4]);
  });

  it("are not taken when the records can't be stored any more", async () => {
    const { fold, settle, sizes } = stage();
    fold(10);
    await settle(false);
    expect(sizes()).toEqual([]);
  });

  it("wait for a server that is away", async () => {
    const { shelf, fold, settle, sizes, faults } = stage();
    shelf.trouble = new CandorError("server-unreachable", "away");
    fold(10);
    await settle();
    shelf.trouble = undefined;
    fold(10);
    await settle();
    expect(sizes()).toEqual([20]);
    expect(faults).toEqual([]);
  });
});

describe("B9 two guards compare their logs by their checkpoints", () => {
  it("adopts the other's of the same size and goes on after it", async () => {
    const { shelf, fold, settle, sizes, faults } = stage();
    shelf.put(checkpointAt(10));
    fold(10);
    await settle();
    fold(10);
    await settle();
    expect(sizes()).toEqual([10, 20]);
    expect(faults).toEqual([]);
  });

  it("finds a difference at the same size, at a smaller one, and at a larger one when it gets there", async () => {
    const others = leaves.with(5, sha256(utf8("changed")));
    for (const size of [10, 7, 15]) {
      const { shelf, fold, settle, faults } = stage();
      shelf.put(checkpointAt(size, others));
      fold(10);
      await settle();
      if (size === 15) expect(faults).toEqual([]);
      fold(5);
      expect(faults).toMatchObject([{ code: "log-altered", details: { lane: 3, seq: size * 2 } }]);
    }
  });

  it("never stores one that is behind the other's", async () => {
    const { shelf, fold, settle, sizes, faults } = stage();
    shelf.put(checkpointAt(40));
    fold(30);
    await settle();
    expect(sizes()).toEqual([40]);
    fold(20);
    await settle();
    expect(sizes()).toEqual([40, 50]);
    expect(faults).toEqual([]);
  });
});
