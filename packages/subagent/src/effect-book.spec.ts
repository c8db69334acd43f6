import { describe, expect, it } from "vitest";
import { encodeCanonical, encodePayload, limits } from "@candor/contract";
import { EffectBook } from "./effect-book.js";

const effect = (i: number, intent = "mail"): { intent: string; key: string; target: string } => ({
  intent,
  key: `key-${i}`,
  target: "smtp",
});

/** Dispatches until there is no room, and says how many there were. */
function fill(book: EffectBook, most: number, intent?: string, outcome?: "failed"): number {
  for (let i = 1; i <= most; i += 1) {
    const one = effect(i, intent);
    try {
      book.requireRoom(one);
    } catch (error) {
      expect(error).toMatchObject({ code: "too-large" });
      return i - 1;
    }
    book.observe(i * 2, { ...one, phase: "dispatched" });
    if (outcome !== undefined) book.observe(i * 2 + 1, { ...one, phase: outcome, dispatch: i * 2 });
  }
  return most;
}

describe("R3 D9 effects that nothing could list", () => {
  it("are refused: 1,000 in flight, and one more once one has ended", () => {
    const book = new EffectBook();
    expect(fill(book, 2_000)).toBe(1_000);
    book.observe(9_999, { ...effect(1), phase: "committed", dispatch: 2 });
    book.requireRoom(effect(2_001));
  });

  it("are refused by their bytes, so that the acknowledgement always fits a message", () => {
    const book = new EffectBook();
    const fitted = fill(book, 1_000, "字".repeat(128));
    expect(fitted).toBeLessThan(1_000);
    const payload = encodePayload("acknowledge", { control: 1, manifest: book.manifest, takenAt: 1 });
    expect(payload.length).toBeLessThan(limits.maxMessageBytes - 1_024);
  });

  it("are refused beyond what a report owns up to", { timeout: 60_000 }, () => {
    const book = new EffectBook();
    expect(fill(book, 10_001, "mail", "failed")).toBe(10_000);
    expect(encodeCanonical(book.declared).length).toBeGreaterThan(limits.maxMessageBytes);
  });
});
