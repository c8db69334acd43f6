import { sha256, type StoredMessage } from "@candor/contract";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { leafHash } from "./leaf.js";

const message = fc.record<StoredMessage>({
  seq: fc.maxSafeNat(),
  timeMs: fc.maxSafeNat(),
  subject: fc.string({ unit: "grapheme", maxLength: 60 }),
  headers: fc.option(fc.uint8Array({ maxLength: 50 }), { nil: undefined }),
  data: fc.uint8Array({ maxLength: 9000 }),
});

/** The documented encoding, written for reading and not for speed. */
function plainLeaf({ seq, timeMs, subject, headers, data }: StoredMessage): Uint8Array {
  const u32 = (value: number): Buffer => Buffer.from([value >>> 24, value >>> 16, value >>> 8, value]);
  const u64 = (value: number): Buffer => Buffer.from(value.toString(16).padStart(16, "0"), "hex");
  const part = (bytes: Uint8Array): Buffer => Buffer.concat([u32(bytes.length), bytes]);
  return Buffer.concat([
    Buffer.from("\0candor/v1/leaf\0"),
    u64(seq),
    u64(timeMs),
    part(Buffer.from(subject)),
    part(headers ?? new Uint8Array()),
    part(data),
  ]);
}

describe("leaf hash", { timeout: 60_000 }, () => {
  it("B9 is SHA-256 over the documented encoding", () => {
    fc.assert(
      fc.property(message, (stored) => {
        expect(leafHash(stored)).toEqual(sha256(plainLeaf(stored)));
      }),
    );
  });

  it("B9 covers sequence, time, subject, headers and bytes", () => {
    const base: StoredMessage = {
      seq: 7,
      timeMs: 1000,
      subject: "candor.log.0.r.t.agent.a.error",
      headers: Uint8Array.of(65),
      data: Uint8Array.of(1, 2),
    };
    const variants: StoredMessage[] = [
      base,
      { ...base, seq: 8 },
      { ...base, timeMs: 1001 },
      { ...base, subject: "candor.log.0.r.t.agent.a.retry" },
      { ...base, headers: undefined },
      { ...base, headers: Uint8Array.of(66) },
      { ...base, headers: Uint8Array.of(), data: Uint8Array.of(65, 1, 2) },
      { ...base, data: Uint8Array.of(1, 3) },
      { ...base, data: Uint8Array.of(1) },
    ];
    expect(new Set(variants.map((stored) => Buffer.from(leafHash(stored)).toString("hex"))).size).toBe(variants.length);
  });
});
