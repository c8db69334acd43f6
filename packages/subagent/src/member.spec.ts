import { createHmac } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hmac } from "./member.js";
import { RandomPool } from "./random-pool.js";

describe("F7 member digests", () => {
  it("are HMAC-SHA-256 as node:crypto computes it, for keys of any length", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.uint8Array({ maxLength: 300 }), (key, message) => {
        expect(Buffer.from(hmac(key, message))).toEqual(createHmac("sha256", key).update(message).digest());
      }),
    );
  });
});

describe("F7 nonces", () => {
  it("are of the length asked for, and no two alike, over the end of a draw", () => {
    const pool = new RandomPool(8);
    const drawn = Array.from({ length: 1_000 }, () => Buffer.from(pool.next()).toString("hex"));
    expect(new Set(drawn).size).toBe(1_000);
    expect(drawn.every((text) => text.length === 16)).toBe(true);
  });
});
