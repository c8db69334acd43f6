import { encodeCanonical } from "@candor/contract";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { firstDifference } from "./first-difference.js";

const difference = (a: unknown, b: unknown): string | undefined =>
  firstDifference(encodeCanonical(a), encodeCanonical(b));

describe("B8 the first difference", () => {
  it.each([
    [{ a: 1 }, { a: 1 }, undefined],
    [{ a: 1, b: 2 }, { a: 1, b: 3 }, "b"],
    [{ a: 1 }, { a: 1, b: 3 }, "b"],
    [{ a: { b: [1, { c: "x" }] } }, { a: { b: [1, { c: "y" }] } }, "a.b[1].c"],
    [{ a: [1, 2] }, { a: [1] }, "a[1]"],
    [{ a: Uint8Array.of(1) }, { a: Uint8Array.of(2) }, "a"],
    [{ a: Uint8Array.of(1) }, { a: [1] }, "a"],
    [{ a: [] }, { a: {} }, "a"],
  ])("of %j and %j is %s", (a, b, field) => {
    expect(difference(a, b)).toBe(field);
    expect(difference(b, a)).toBe(field);
  });

  it("is the encoding where the values are the same, or cannot be read", () => {
    expect(firstDifference(Uint8Array.of(0x01), Uint8Array.of(0xcc, 0x01))).toBe("encoding");
    expect(firstDifference(Uint8Array.of(0xc1), Uint8Array.of(0x01))).toBe("encoding");
  });

  it("is there exactly if the bytes differ", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 20 }), fc.uint8Array({ maxLength: 20 }), (a, b) => {
        expect(firstDifference(a, b) === undefined).toBe(Buffer.from(a).equals(b));
      }),
    );
  });
});
