import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { wholeSeconds } from "./seconds.js";

/** The same rule by exact integer arithmetic on the bits of the double, sharing nothing with the code under test. */
function exact(bits: bigint): string {
  const sign = bits >> 63n === 1n ? "-" : "";
  const exponent = (bits >> 52n) & 0x7ffn;
  const fraction = bits & 0xfffffffffffffn;
  if (exponent === 0x7ffn) return fraction === 0n ? `${sign}inf` : "nan";
  // magnitude = mantissa / 2^1074 * 2^shift, subnormals included
  const mantissa = exponent === 0n ? fraction : fraction + 0x10000000000000n;
  const numerator = mantissa << (exponent === 0n ? 0n : exponent - 1n);
  const denominator = 1n << 1074n;
  const below = numerator / denominator;
  const twice = 2n * (numerator % denominator);
  const up = twice > denominator || (twice === denominator && below % 2n === 1n);
  return `${sign}${String(up ? below + 1n : below)}`;
}

function bitsOf(value: number): bigint {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  return view.getBigUint64(0);
}

function doubleOf(bits: bigint): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, bits);
  return view.getFloat64(0);
}

describe("D10 R10 seconds as text", () => {
  it.each([
    [0, "0"],
    [-0, "-0"],
    [0.5, "0"],
    [1.5, "2"],
    [2.5, "2"],
    [3.5, "4"],
    [-0.4, "-0"],
    [-0.5, "-0"],
    [-1.5, "-2"],
    [-2.5, "-2"],
    [0.49999999999999994, "0"],
    [0.5000000000000001, "1"],
    [5e-324, "0"],
    [-5e-324, "-0"],
    [4503599627370495.5, "4503599627370496"],
    [4503599627370494.5, "4503599627370494"],
    [9007199254740993, "9007199254740992"],
    [1e21, "1000000000000000000000"],
    [1e23, "99999999999999991611392"],
    [-1e22, "-10000000000000000000000"],
    [NaN, "nan"],
    [Infinity, "inf"],
    [-Infinity, "-inf"],
  ])("writes %d as %s", (value, text) => {
    expect(wholeSeconds(value)).toBe(text);
  });

  it("agrees with exact arithmetic on any double", () => {
    fc.assert(
      fc.property(fc.bigInt(0n, (1n << 64n) - 1n), (bits) => {
        expect(wholeSeconds(doubleOf(bits))).toBe(exact(bits));
      }),
      { numRuns: 2000 },
    );
  });

  it("agrees with exact arithmetic on halves and their neighbours", () => {
    const halves = fc
      .tuple(fc.bigInt(-(1n << 52n), 1n << 52n), fc.integer({ min: -2, max: 2 }))
      .map(([whole, ulps]) => bitsOf(Number(whole) + 0.5) + BigInt(ulps));
    fc.assert(
      fc.property(halves, (bits) => {
        expect(wholeSeconds(doubleOf(bits))).toBe(exact(bits));
      }),
      { numRuns: 2000 },
    );
  });

  it("agrees with exact arithmetic on small halves, where both parities occur", () => {
    fc.assert(
      fc.property(fc.integer({ min: -1000, max: 1000 }), (whole) => {
        expect(wholeSeconds(whole + 0.5)).toBe(exact(bitsOf(whole + 0.5)));
      }),
    );
  });
});
