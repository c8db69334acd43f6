import { sha256 } from "@candor/contract";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { leafHash, type StoredMessage } from "./leaf.js";

const message = fc.record<StoredMessage>({
  seq: fc.maxSafeNat(),
  timeMs: fc.maxSafeNat(),
  subject: fc.string({ unit: "grapheme", maxLength: 60 }),
  headers: fc.option(
    fc.array(fc.tuple(fc.string({ maxLength: 5 }), fc.array(fc.string({ maxLength: 5 }), { maxLength: 3 })), {
      maxLength: 3,
    }),
    { nil: undefined },
  ),
  data: fc.uint8Array({ maxLength: 9000 }),
});

/** The documented encoding, written for reading and not for speed. */
function plainLeaf({ seq, timeMs, subject, headers, data }: StoredMessage): Uint8Array {
  const u32 = (value: number): Buffer => Buffer.from([value >>> 24, value >>> 16, value >>> 8, value]);
  const u64 = (value: number): Buffer => Buffer.from(value.toString(16).padStart(16, "0"), "hex");
  const text = (value: string): Buffer => Buffer.concat([u32(Buffer.byteLength(value)), Buffer.from(value)]);
  const pairs = [...(headers ?? [])].flatMap(([name, values]) => values.map((value) => [name, value] as const));
  return Buffer.concat([
    Buffer.from("\0candor/v1/leaf\0"),
    u64(seq),
    u64(timeMs),
    text(subject),
    u32(pairs.length),
    ...pairs.flatMap(([name, value]) => [text(name), text(value)]),
    u32(data.length),
    data,
  ]);
}

describe("leaf hash", () => {
  it("B9 is SHA-256 over the documented encoding", () => {
    fc.assert(
      fc.property(message, (stored) => {
        expect(leafHash(stored)).toEqual(Uint8Array.from(sha256(plainLeaf(stored))));
      }),
    );
  });

  it("B9 covers sequence, time, subject, headers and bytes", () => {
    const base: StoredMessage = {
      seq: 7,
      timeMs: 1000,
      subject: "candor.log.0.r.t.agent.a.error",
      headers: [["A", ["b"]]],
      data: Uint8Array.of(1, 2),
    };
    const variants: StoredMessage[] = [
      base,
      { ...base, seq: 8 },
      { ...base, timeMs: 1001 },
      { ...base, subject: "candor.log.0.r.t.agent.a.retry" },
      { ...base, headers: undefined },
      { ...base, headers: [["A", ["c"]]] },
      { ...base, headers: [["Ab", [""]]] },
      { ...base, headers: [["A", ["b", "b"]]] },
      { ...base, data: Uint8Array.of(1, 3) },
      { ...base, data: Uint8Array.of(1) },
    ];
    expect(new Set(variants.map((stored) => Buffer.from(leafHash(stored)).toString("hex"))).size).toBe(variants.length);
  });

  it("treats no headers and empty headers alike", () => {
    const stored = { seq: 1, timeMs: 1, subject: "s", data: new Uint8Array() };
    expect(leafHash({ ...stored, headers: [] })).toEqual(leafHash(stored));
  });
});
