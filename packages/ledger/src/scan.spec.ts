import { decodeValue, encodeCanonical, isCandorError } from "@candor/contract";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scan } from "./scan.js";

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.string({ maxLength: 20 }),
  fc.string({ minLength: 30, maxLength: 300 }),
  // Around the places where UTF-16 and UTF-8 order differ.
  fc.string({ unit: fc.constantFrom("a", "\ud7ff", "\ue000", "\uffff", "\u{10000}", "\u{10ffff}"), maxLength: 4 }),
);
const key = text.filter((name) => name !== "__proto__");
const integer = fc.oneof(
  fc.maxSafeInteger(),
  fc.integer({ min: -70000, max: 70000 }),
  fc
    .tuple(fc.constantFrom(5, 7, 8, 15, 16, 31, 32, 52), fc.integer({ min: -2, max: 2 }), fc.constantFrom(1, -1))
    .map(([bits, near, sign]) => sign * (2 ** bits + near)),
);
const number = fc.oneof(integer, fc.double({ noNaN: true, noDefaultInfinity: true }));
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 6, depthSize: "small" },
    number,
    text,
    fc.boolean(),
    fc.constant(null),
    fc.uint8Array({ maxLength: 300 }),
    fc.array(tie("value"), { maxLength: 20 }),
    fc.dictionary(key, tie("value"), { maxKeys: 20 }),
  ),
}));

function outcome(bytes: Uint8Array): string {
  try {
    scan(bytes);
    return "passes";
  } catch (error) {
    if (isCandorError(error, "malformed", "non-canonical")) return error.code;
    throw error;
  }
}

const bytes = (hexText: string): Uint8Array => Uint8Array.from(Buffer.from(hexText.replaceAll(" ", ""), "hex"));

describe("strict scan", { timeout: 60_000 }, () => {
  it("passes everything that our encoder writes", () => {
    fc.assert(
      fc.property(value, (any) => {
        scan(encodeCanonical(any));
      }),
      { numRuns: 500 },
    );
  });

  it("B3 refuses or proves canonical: what passes decodes and encodes to the same bytes, whatever was changed in it", () => {
    const change = fc.record({
      at: fc.nat(),
      byte: fc.nat({ max: 255 }),
      how: fc.constantFrom("set", "cut", "insert"),
    });
    let passed = 0;
    fc.assert(
      fc.property(value, fc.array(change, { minLength: 1, maxLength: 3 }), (any, changes) => {
        const mutated = [...encodeCanonical(any)];
        for (const { at, byte, how } of changes) {
          const index = at % (mutated.length + 1);
          if (how === "insert") mutated.splice(index, 0, byte);
          else if (how === "cut") mutated.splice(index);
          else mutated[index] = byte;
        }
        const changed = Uint8Array.from(mutated);
        if (outcome(changed) !== "passes") return;
        passed++;
        expect(Buffer.compare(encodeCanonical(decodeValue(changed)), changed)).toBe(0);
      }),
      { numRuns: 1500 },
    );
    expect(passed).toBeGreaterThan(0);
  });

  it("never throws anything but a CandorError on random bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (any) => {
        if (outcome(any) === "passes") expect(encodeCanonical(decodeValue(any))).toEqual(any);
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ["an empty input", "", "malformed"],
    ["bytes left over", "c0 c0", "malformed"],
    ["a reserved tag", "c1", "malformed"],
    ["a duplicate key", "82 a1 61 01 a1 61 02", "malformed"],
    ["keys out of order", "82 a1 62 01 a1 61 02", "non-canonical"],
    ["a longer key before its prefix", "82 a2 61 61 01 a1 61 02", "non-canonical"],
    ["a key that is a number", "81 01 02", "malformed"],
    ["a key that is a byte string", "81 c4 01 61 02", "malformed"],
    ["the key __proto__", "81 a9 5f 5f 70 72 6f 74 6f 5f 5f 01", "malformed"],
    ["a cut off map", "81 a1 61", "malformed"],
    ["a map without its key", "81", "malformed"],
    ["127 in two bytes", "cc 7f", "non-canonical"],
    ["255 in three bytes", "cd 00 ff", "non-canonical"],
    ["65535 in five bytes", "ce 00 00 ff ff", "non-canonical"],
    ["2^32 − 1 in nine bytes", "cf 00 00 00 00 ff ff ff ff", "non-canonical"],
    ["2^53", "cf 00 20 00 00 00 00 00 00", "malformed"],
    ["2^64 − 1", "cf ff ff ff ff ff ff ff ff", "malformed"],
    ["a positive number as a signed one", "d0 01", "non-canonical"],
    ["−32 in two bytes", "d0 e0", "non-canonical"],
    ["−128 in three bytes", "d1 ff 80", "non-canonical"],
    ["−32768 in five bytes", "d2 ff ff 80 00", "non-canonical"],
    ["−2^31 in nine bytes", "d3 ff ff ff ff 80 00 00 00", "non-canonical"],
    ["−2^53", "d3 ff e0 00 00 00 00 00 00", "malformed"],
    ["a cut off integer", "cf 00 00 00 01", "malformed"],
    ["a short string with a length byte", "d9 01 61", "non-canonical"],
    ["a string length of two bytes for one", `da 00 40 ${"61 ".repeat(64)}`, "non-canonical"],
    ["a string length of four bytes for two", `db 00 00 01 00 ${"61 ".repeat(256)}`, "non-canonical"],
    ["a byte string length of two bytes for one", "c5 00 01 00", "non-canonical"],
    ["a byte string length of four bytes for two", "c6 00 00 00 01 00", "non-canonical"],
    ["an array length of two bytes for none", "dc 00 00", "non-canonical"],
    ["a map length of four bytes for none", "df 00 00 00 00", "non-canonical"],
    ["an array of four thousand million members", "dd ff ff ff ff", "malformed"],
    ["a string beyond the end", "a5 61", "malformed"],
    ["a byte string beyond the end", "c4 05 61", "malformed"],
    ["a lone continuation byte", "a1 80", "malformed"],
    ["an overlong slash", "a2 c0 af", "malformed"],
    ["an overlong three-byte form", "a3 e0 80 80", "malformed"],
    ["an overlong four-byte form", "a4 f0 80 80 80", "malformed"],
    ["a surrogate", "a3 ed a0 80", "malformed"],
    ["a code point beyond U+10FFFF", "a4 f4 90 80 80", "malformed"],
    ["a sequence cut off by the end of its string", "92 a1 c3 a1 a9", "malformed"],
    ["a single-precision number", "ca 3f 80 00 00", "non-canonical"],
    ["1 as a double", "cb 3f f0 00 00 00 00 00 00", "non-canonical"],
    ["−0 as a double", "cb 80 00 00 00 00 00 00 00", "non-canonical"],
    ["not a number", "cb 7f f8 00 00 00 00 00 00", "non-canonical"],
    ["infinity", "cb 7f f0 00 00 00 00 00 00", "non-canonical"],
    ["a cut off double", "cb 3f f0", "malformed"],
    ["a timestamp", "d6 ff 00 00 00 00", "malformed"],
    ["an extension", "c7 01 05 00", "malformed"],
    ["depth 17", `${"91".repeat(17)}c0`, "malformed"],
    ["a byte order mark that decoders drop", `da 01 03 efbbbf ${"61 ".repeat(256)}`, "non-canonical"],
  ])("B3 refuses %s", (_, hexText, code) => {
    expect(outcome(bytes(hexText))).toBe(code);
  });

  it.each([
    ["depth 16", `${"91".repeat(16)}c0`],
    ["2^53 − 1", "cf 00 1f ff ff ff ff ff ff"],
    ["−(2^53 − 1)", "d3 ff e0 00 00 00 00 00 01"],
    ["2^53 as a double", "cb 43 40 00 00 00 00 00 00"],
    ["0.5", "cb 3f e0 00 00 00 00 00 00"],
    ["keys in UTF-16 order", "82 a4 f0 90 80 80 01 a3 ee 80 80 02"],
    ["a key and its extension", "82 a1 61 01 a2 61 61 02"],
  ])("passes %s", (_, hexText) => {
    expect(outcome(bytes(hexText))).toBe("passes");
    expect(encodeCanonical(decodeValue(bytes(hexText)))).toEqual(bytes(hexText));
  });

  it("says where", () => {
    expect(() => {
      scan(bytes("92 01 cc 01"));
    }).toThrow("at byte 2");
  });
});
