import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nearest } from "./nearest.js";

describe("Q2 suggestions", () => {
  const known = ["log-gap", "log-fork", "no-work", "CONCEALMENT_DETECTED", "recall"];

  it.each([
    ["log-gpa", "log-gap"],
    ["concealment", "CONCEALMENT_DETECTED"],
    ["nowork", "no-work"],
    ["RECAL", "recall"],
  ])("%s: %s", (word, meant) => {
    expect(nearest(word, known)[0]).toBe(meant);
  });

  it.each(["", "zzzzzzzz"])("%j resembles none", (word) => {
    expect(nearest(word, known)).toEqual([]);
  });

  it("suggests at most three known words, for any word", () => {
    fc.assert(
      fc.property(fc.string(), (word) => {
        const found = nearest(word, known);
        expect(found.length).toBeLessThanOrEqual(3);
        expect(known).toEqual(expect.arrayContaining([...found]));
      }),
    );
  });
});
