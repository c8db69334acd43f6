import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RunFilter } from "./run-filter.js";

describe("runs a lane has opened", () => {
  it("never forgets one", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "grapheme-ascii", minLength: 1 }), { maxLength: 500 }), (runs) => {
        const filter = new RunFilter();
        for (const run of runs) filter.add(run);
        expect(runs.every((run) => filter.mayHold(run))).toBe(true);
      }),
    );
  });

  it("takes few new ones for old ones, also with tens of thousands of runs", () => {
    const filter = new RunFilter();
    for (let i = 0; i < 40_000; i += 1) filter.add(`run-${i}`);
    let mistaken = 0;
    for (let i = 0; i < 10_000; i += 1) if (filter.mayHold(`other-${i}`)) mistaken += 1;
    expect(mistaken).toBeLessThan(500);
  });

  it("knows none at first", () => {
    expect(new RunFilter().mayHold("r1")).toBe(false);
  });
});
