import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { zeroHash, type AdmittedEvent } from "@candor/contract";
import { AuthorChain } from "./author-chain.js";

const hash = fc.uint8Array({ minLength: 32, maxLength: 32 });

/** All that a chain looks at. */
function event(seq: number, own: Uint8Array, prev: Uint8Array): AdmittedEvent {
  return { event: { seq, prev }, hash: own } as AdmittedEvent;
}

/** A chain of events with these hashes, each of which follows the one before it. */
function chainOf(hashes: readonly Uint8Array[]): AuthorChain {
  const chain = new AuthorChain();
  hashes.forEach((own, i) => {
    const { ready, fault } = chain.offer(event(i + 1, own, hashes[i - 1] ?? zeroHash), 10);
    expect([ready.length, fault]).toEqual([1, undefined]);
  });
  return chain;
}

function flipped(own: Uint8Array, bit: number): Uint8Array {
  const other = Uint8Array.from(own);
  other[bit >> 3] = (other[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return other;
}

/** Bits of the first sixteen bytes that are not kept. */
const notKept: ReadonlySet<number> = new Set([6, 70]);

describe("D1 an author's chain", () => {
  it("knows each event again, however many there are, and a different one of its number for a fork", () => {
    fc.assert(
      fc.property(fc.array(hash, { minLength: 1, maxLength: 60 }), fc.nat(), fc.nat(127), (hashes, at, bit) => {
        const chain = chainOf(hashes);
        const seq = (at % hashes.length) + 1;
        const own = hashes[seq - 1] ?? zeroHash;
        expect(chain.knows(seq, own)).toBe(true);
        expect(chain.offer(event(seq, own, zeroHash), 10)).toEqual({ ready: [], waiting: false });
        const other = flipped(own, bit);
        expect(chain.knows(seq, other)).toBe(notKept.has(bit));
        if (!notKept.has(bit)) expect(chain.offer(event(seq, other, zeroHash), 10).fault).toBe("log-fork");
      }),
    );
  });

  it("tells hashes apart whose bytes would be no number, or one that equals another", () => {
    const first = (...bytes: number[]): Uint8Array => Uint8Array.from({ length: 32 }, (_, i) => bytes[i] ?? 0);
    const odd = [
      first(),
      first(0x80),
      first(0x7f, 0xf0),
      first(0x7f, 0xf8),
      first(0x7f, 0xf8, 1),
      first(0xff, 0xf8),
      first(0, 1),
      first(1),
    ];
    const chain = chainOf(odd);
    for (const [i, own] of odd.entries())
      for (const [j, other] of odd.entries()) expect([i, j, chain.knows(i + 1, other)]).toEqual([i, j, own === other]);
  });

  it("breaks where an event names another one before it than there is", () => {
    fc.assert(
      fc.property(hash, hash, fc.nat(127), (own, next, bit) => {
        fc.pre(!notKept.has(bit));
        const { fault } = chainOf([own]).offer(event(2, next, flipped(own, bit)), 10);
        expect(fault).toBe("chain-broken");
      }),
    );
  });
});
