import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Heap } from "./heap.js";

function drain(heap: Heap<number>): number[] {
  const out: number[] = [];
  for (let next = heap.pop(); next !== undefined; next = heap.pop()) out.push(next);
  return out;
}

describe("heap", () => {
  it("gives back what it was given, the least first, also when some is taken in between", () => {
    fc.assert(
      fc.property(fc.array(fc.integer()), fc.nat(20), fc.array(fc.integer()), (first, taken, second) => {
        const heap = new Heap<number>((a, b) => a < b);
        for (const item of first) heap.push(item);
        const early = first
          .toSorted((a, b) => a - b)
          .slice(0, taken)
          .map(() => heap.pop());
        for (const item of second) heap.push(item);
        const rest = [...first.toSorted((a, b) => a - b).slice(taken), ...second].sort((a, b) => a - b);
        expect(early).toEqual(first.toSorted((a, b) => a - b).slice(0, taken));
        expect(drain(heap)).toEqual(rest);
      }),
    );
  });

  it("keeps only what passes", () => {
    fc.assert(
      fc.property(fc.array(fc.integer()), (items) => {
        const heap = new Heap<number>((a, b) => a < b);
        for (const item of items) heap.push(item);
        heap.retain((item) => item % 2 === 0);
        expect(drain(heap)).toEqual(items.filter((item) => item % 2 === 0).sort((a, b) => a - b));
      }),
    );
  });
});
