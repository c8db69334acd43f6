import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { calibrate, calibrationBins, type ConfidenceSample } from "./calibration.js";

const share = fc.double({ min: 0, max: 1, noNaN: true });
const samples: fc.Arbitrary<ConfidenceSample[]> = fc.array(
  fc.record({
    actor: fc.constantFrom("a", "b"),
    selfReported: fc.option(share),
    computed: share,
    confirmed: fc.boolean(),
  }),
  { maxLength: 40 },
);

describe("T6 calibration", () => {
  it("puts computed and self-reported confidence side by side", () => {
    const said = [
      { actor: "payer", selfReported: 0.9, computed: 0.9, confirmed: true },
      { actor: "payer", selfReported: 0.95, computed: 0.2, confirmed: false },
      { actor: "payer", selfReported: null, computed: 1, confirmed: true },
      { actor: "fetcher", selfReported: 1, computed: 1, confirmed: true },
    ];
    const [fetcher, payer] = calibrate(said);
    expect(fetcher).toMatchObject({ actor: "fetcher", selfReported: { brier: 0 }, computed: { brier: 0 } });
    expect(payer).toMatchObject({ actor: "payer", count: 3, confirmed: 2 });
    expect(payer?.computed.brier).toBeCloseTo((0.1 ** 2 + 0.2 ** 2) / 3, 12);
    expect(payer?.selfReported).toMatchObject({ count: 2, bins: [{ from: 0.9, to: 1, count: 2, confirmed: 0.5 }] });
    expect(payer?.selfReported.brier).toBeCloseTo((0.1 ** 2 + 0.95 ** 2) / 2, 12);
    expect(payer?.computed.bins.map(({ from, count }) => [from, count])).toEqual([
      [0.2, 1],
      [0.9, 2],
    ]);
  });

  it("has no score for whoever never gave a number", () => {
    const [one] = calibrate([{ actor: "a", selfReported: null, computed: 0.5, confirmed: true }]);
    expect(one?.selfReported).toEqual({ count: 0, brier: null, bins: [] });
  });

  it("the score is in 0..1, 0 only for a prophet, 0.25 for one who always says a half", () => {
    fc.assert(
      fc.property(samples, (said) => {
        for (const { computed, selfReported } of calibrate(said))
          for (const { brier } of [computed, selfReported])
            if (brier !== null) expect(brier >= 0 && brier <= 1).toBe(true);
        const prophet = said.map((one) => ({ ...one, computed: one.confirmed ? 1 : 0 }));
        for (const { computed } of calibrate(prophet)) expect(computed.brier).toBe(0);
        const doubter = said.map((one) => ({ ...one, computed: 0.5 }));
        for (const { computed } of calibrate(doubter)) expect(computed.brier).toBe(0.25);
      }),
    );
  });

  it("every sample is in one bin of its own range, whose mean lies in it", () => {
    fc.assert(
      fc.property(samples, (said) => {
        const found = calibrate(said);
        expect(found.reduce((sum, { count }) => sum + count, 0)).toBe(said.length);
        for (const { computed, selfReported, count } of found) {
          expect(computed.count).toBe(count);
          for (const { bins, count: of } of [computed, selfReported]) {
            expect(bins.reduce((sum, bin) => sum + bin.count, 0)).toBe(of);
            expect(bins.length).toBeLessThanOrEqual(calibrationBins);
            for (const { from, to, confidence, confirmed } of bins) {
              expect(confidence).toBeGreaterThanOrEqual(from - 1e-12);
              expect(confidence).toBeLessThanOrEqual(to + 1e-12);
              expect(confirmed >= 0 && confirmed <= 1).toBe(true);
            }
          }
        }
      }),
    );
  });

  it("moving a number towards what came of it never worsens the score", () => {
    fc.assert(
      fc.property(samples, fc.nat(), share, (said, at, part) => {
        if (said.length === 0) return;
        const index = at % said.length;
        const better = said.map((one, i) =>
          i === index ? { ...one, computed: one.computed + part * ((one.confirmed ? 1 : 0) - one.computed) } : one,
        );
        const before = calibrate(said);
        for (const [i, { computed }] of calibrate(better).entries())
          expect(computed.brier).toBeLessThanOrEqual((before[i]?.computed.brier ?? 0) + 1e-12);
      }),
    );
  });
});
