import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createDataKey, seal, unseal } from "./seal.js";

const key = createDataKey();
const refusal = (code: string): Error => expect.objectContaining({ code }) as Error;

describe("sealing", { timeout: 60_000 }, () => {
  it("Q5 opens to the same text under the same key", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 300 }), (text) => {
        expect(unseal(seal(text, key), key)).toBe(text);
      }),
    );
  });

  it("keeps a byte order mark", () => {
    expect(unseal(seal("\ufeffa", key), key)).toBe("\ufeffa");
  });

  it("Q5 never shows the text, and never the same bytes twice", () => {
    const one = seal("the customer is Ada", key);
    expect(Buffer.from(one).includes("Ada")).toBe(false);
    expect(seal("the customer is Ada", key)).not.toEqual(one);
  });

  it("Q5 does not open under another key, nor after any change", () => {
    const sealed = seal("text", key);
    expect(() => unseal(sealed, createDataKey())).toThrow(refusal("bad-seal"));
    for (let at = 0; at < sealed.length; at++) {
      const changed = sealed.slice();
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(() => unseal(changed, key)).toThrow(refusal("bad-seal"));
    }
    for (const length of [0, 23, 24, 39])
      expect(() => unseal(sealed.slice(0, length), key)).toThrow(refusal("bad-seal"));
  });

  it("refuses a key of another length", () => {
    expect(() => seal("text", new Uint8Array(31))).toThrow(refusal("bad-key"));
    expect(() => unseal(new Uint8Array(50), new Uint8Array(33))).toThrow(refusal("bad-key"));
  });

  it("cuts what the wire has no room for between two characters", () => {
    for (const letter of ["a", "é", "€", "😀"]) {
      const sealed = seal(letter.repeat(20_000), key);
      expect(sealed.length).toBeLessThanOrEqual(16 * 1024);
      expect(sealed.length).toBeGreaterThan(16 * 1024 - 8);
      const text = unseal(sealed, key);
      expect(text.endsWith("…")).toBe(true);
      expect(text.slice(0, -1).replaceAll(letter, "")).toBe("");
    }
  });

  it("Q5 replaces secrets before it seals", () => {
    expect(unseal(seal("Authorization: Bearer abcdefghijklmnopqrstuvwxyz", key), key)).toBe(
      "Authorization: Bearer [redacted:authorization]",
    );
  });
});
