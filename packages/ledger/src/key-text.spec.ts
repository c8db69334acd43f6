import { createRequire } from "node:module";
import { existsSync } from "node:fs";
import { isCandorError } from "@candor/contract";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodePublicKey, decodeSeed, encodePublicKey, encodeSeed, isPublicKey } from "./key-text.js";

const key = fc.uint8Array({ minLength: 32, maxLength: 32 });
const fromTests = new URL("../../../test/package.json", import.meta.url);

interface ReferencePair {
  getPublicKey(): string;
  getSeed(): Uint8Array;
}
interface Reference {
  fromSeed(seed: Uint8Array): ReferencePair;
  createUser(): ReferencePair;
}

describe("key text", { timeout: 60_000 }, () => {
  it("reads back what it wrote", () => {
    fc.assert(
      fc.property(key, (bytes) => {
        expect(decodePublicKey(encodePublicKey(bytes))).toEqual(bytes);
        expect(decodeSeed(encodeSeed(bytes))).toEqual(bytes);
      }),
    );
  });

  it("is `U…` with 56 letters and `SU…` with 58", () => {
    fc.assert(
      fc.property(key, (bytes) => {
        expect(encodePublicKey(bytes)).toMatch(/^U[A-Z2-7]{55}$/);
        expect(encodeSeed(bytes)).toMatch(/^SU[A-Z2-7]{56}$/);
      }),
    );
  });

  it("refuses a key in which any one letter was changed", () => {
    fc.assert(
      fc.property(
        key,
        fc.nat({ max: 55 }),
        fc.constantFrom(...Array.from("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")),
        (bytes, at, letter) => {
          const text = encodePublicKey(bytes);
          fc.pre(text[at] !== letter);
          const changed = text.slice(0, at) + letter + text.slice(at + 1);
          expect(isPublicKey(changed)).toBe(false);
          expect(() => decodePublicKey(changed)).toThrow(expect.objectContaining({ code: "bad-key" }));
        },
      ),
    );
  });

  it("refuses a seed where a public key belongs, and never repeats it", () => {
    const seed = encodeSeed(new Uint8Array(32).fill(7));
    expect(isPublicKey(seed)).toBe(false);
    try {
      decodePublicKey(seed);
      expect.unreachable();
    } catch (error) {
      expect(isCandorError(error, "bad-key")).toBe(true);
      expect(String(error)).not.toContain(seed.slice(0, 8));
    }
  });

  it.each(["", "U", "hello", "U".repeat(56), "u".repeat(56)])("refuses %j", (text) => {
    expect(() => decodePublicKey(text)).toThrow(expect.objectContaining({ code: "bad-key" }));
    expect(() => decodeSeed(text)).toThrow(expect.objectContaining({ code: "bad-key" }));
    expect(isPublicKey(text)).toBe(false);
  });

  it("refuses a key of the wrong length", () => {
    expect(() => encodePublicKey(new Uint8Array(31))).toThrow(expect.objectContaining({ code: "bad-key" }));
  });

  it("agrees with @nats-io/nkeys", (ctx) => {
    if (!existsSync(fromTests)) ctx.skip("the test folder, which brings @nats-io/nkeys, is not here");
    const reference = createRequire(fromTests)("@nats-io/nkeys") as Reference;
    const text = new TextDecoder();
    for (let round = 0; round < 20; round++) {
      const pair = reference.createUser();
      const seed = text.decode(pair.getSeed());
      expect(encodeSeed(decodeSeed(seed))).toBe(seed);
      expect(encodePublicKey(decodePublicKey(pair.getPublicKey()))).toBe(pair.getPublicKey());
      expect(reference.fromSeed(new TextEncoder().encode(encodeSeed(decodeSeed(seed)))).getPublicKey()).toBe(
        pair.getPublicKey(),
      );
    }
  });
});
