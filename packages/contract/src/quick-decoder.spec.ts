import { decode, encode } from "@msgpack/msgpack";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeQuickly, notQuick } from "./quick-decoder.js";

const leaf = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.nat(),
  fc.integer({ min: -40, max: 300 }),
  fc.maxSafeInteger(),
  fc.double(),
  fc.string({ maxLength: 40 }),
  fc.string({ unit: "binary", maxLength: 5 }),
  fc.uint8Array({ maxLength: 300 }),
);
const anything = fc.letrec<{ node: unknown }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 4 },
    leaf,
    fc.array(tie("node"), { maxLength: 20 }),
    fc.dictionary(fc.string({ maxLength: 12 }), tie("node"), { maxKeys: 20 }),
  ),
})).node;

/** What the general decoder makes of it; undefined if it refuses. */
function general(bytes: Uint8Array): { value: unknown } | undefined {
  try {
    return { value: decode(bytes) };
  } catch {
    return undefined;
  }
}

function expectSame(bytes: Uint8Array): void {
  const quick = decodeQuickly(bytes);
  if (quick !== notQuick) expect({ value: quick }).toEqual(general(bytes));
}

describe("quick decoder", () => {
  it("says of well-formed bytes what the general decoder says, or that they are not for it", () => {
    fc.assert(
      fc.property(anything, (value) => {
        expectSame(encode(value));
      }),
    );
  });

  it("takes no broken bytes for whole ones", () => {
    fc.assert(
      fc.property(anything, fc.nat(), fc.nat(255), (value, at, byte) => {
        const bytes = encode(value);
        const changed = Uint8Array.from(bytes);
        changed[at % bytes.length] = byte;
        expectSame(changed);
        expectSame(bytes.subarray(0, at % bytes.length));
        expectSame(Uint8Array.from([...bytes, byte]));
      }),
    );
    fc.assert(fc.property(fc.uint8Array({ maxLength: 60 }), expectSame));
  });

  it("is what payloads go through", () => {
    const payload = { attempts: [], finality: "recoverable", operation: "lookup", recovered: false, at: 1_000_000 };
    expect(decodeQuickly(encode(payload))).toEqual(payload);
    expect(decodeQuickly(encode({ label: "zwölf" }))).toBe(notQuick);
  });

  it("keeps texts of the same hash slot apart", () => {
    for (let i = 0; i < 20_000; i += 1) expect(decodeQuickly(encode(`operation-${i}`))).toBe(`operation-${i}`);
  });

  it("makes long texts that weigh what their letters weigh", () => {
    const texts = Array.from({ length: 840 }, (_, i) => `${i}-`.padEnd(250, "x"));
    const bytes = encode(texts);
    decodeQuickly(bytes);
    const before = process.memoryUsage().heapUsed;
    const kept = Array.from({ length: 20 }, () => decodeQuickly(bytes));
    const grown = process.memoryUsage().heapUsed - before;
    expect(kept[19]).toEqual(texts);
    // 20 times 210 KB of letters; a node for each of them would be 130 MB.
    expect(grown).toBeLessThan(40 * 1024 * 1024);
  });

  it("leaves what is nested too deep to the general decoder", () => {
    let nested: unknown = 1;
    for (let i = 0; i < 100; i += 1) nested = [nested];
    expect(decodeQuickly(encode(nested, { maxDepth: 200 }))).toBe(notQuick);
  });
});
