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

/** The 22 bits of FNV-1a that an entry is first compared by. */
function fnv(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 10;
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

  it("finds a lie that was made to look like the truth to 22 bits", () => {
    const told = [];
    for (let delayMs = 6; delayMs < 2 ** 24 && told.length < 1; delayMs += 1) {
      if (fnv(`o\n\n2\n${delayMs}\nfailed`) === fnv("o\n\n2\n5\nfailed")) told.push(delayMs);
    }
    const [delayMs] = told;
    if (delayMs === undefined) expect.unreachable("no collision in the first 2^24 delays");
    const entries = [
      { seq: 4, ...retry(2, 2, "failed"), delayMs },
      { seq: 5, ...retry(3, 3, "ok") },
    ];
    expect(threeTries().undisclosedRetries({ entries })).toEqual([4, 5]);
  });
});
