import { describe, expect, it } from "vitest";
import { errorLogReceiptOf, Tally } from "./tally.js";

const error = (attempt: number, reasons: readonly number[]) => ({
  type: "transient",
  finality: "recoverable",
  recovered: false,
  operation: "o",
  attempt,
  attempts: reasons.map((reason, i) => ({ attempt: i + 1, reason, delayMs: 0 })),
  effects: [],
});
const retry = (attempt: number, reason: number, outcome: "ok" | "failed") => ({
  operation: "o",
  attempt,
  reason,
  delayMs: 5,
  outcome,
});

function threeTries(): Tally {
  const tally = new Tally();
  tally.add(1, "accept", {});
  tally.add(2, "error", error(1, []));
  tally.add(3, "error", error(2, [2]));
  tally.add(4, "retry", retry(2, 2, "failed"));
  tally.add(5, "retry", retry(3, 3, "ok"));
  return tally;
}

describe("D1 D2 tally", () => {
  it("a success recovers the whole row of tries that it ends", () => {
    const tally = threeTries();
    expect(tally.errors().map(({ seq, recovered }) => [seq, recovered])).toEqual([
      [2, true],
      [3, true],
    ]);
    expect(errorLogReceiptOf(tally, new Uint8Array(32))).toMatchObject({
      count: 5,
      first: 1,
      last: 5,
      byKind: { accept: 1, error: 2, retry: 2 },
      byType: { transient: 2 },
    });
  });

  it("leaves another call's error alone", () => {
    const tally = threeTries();
    tally.add(6, "error", error(1, []));
    expect(tally.errors().at(-1)?.recovered).toBe(false);
  });

  it("finds a retry that a manifest leaves out or tells differently", () => {
    const tally = threeTries();
    const honest = [
      { seq: 4, ...retry(2, 2, "failed") },
      { seq: 5, ...retry(3, 3, "ok") },
    ];
    expect(tally.undisclosedRetries({ entries: honest })).toEqual([]);
    expect(tally.undisclosedRetries({ entries: honest.slice(1) })).toEqual([4]);
    expect(tally.undisclosedRetries({ entries: honest.map((e) => ({ ...e, delayMs: 0 })) })).toEqual([4, 5]);
    expect(tally.undisclosedRetries({ entries: honest.map((e) => ({ ...e, reason: 1 })) })).toEqual([4, 5]);
  });
});
