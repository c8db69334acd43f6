import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RecentMap } from "./recent-map.js";

describe("recent map", () => {
  it("keeps what was set last, and no more than it may", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 9 })), fc.integer({ min: 1, max: 5 }), (keys, max) => {
        const map = new RecentMap<number, number>(max);
        for (const [at, key] of keys.entries()) map.set(key, at);
        const recent = [...new Set([...keys].reverse())].slice(0, max);
        for (let key = 0; key < 10; key += 1) {
          expect(map.get(key)).toBe(recent.includes(key) ? keys.lastIndexOf(key) : undefined);
        }
      }),
    );
  });
});
