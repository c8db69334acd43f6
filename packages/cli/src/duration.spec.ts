import { isCandorError } from "@candor/contract";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatDuration, parseDuration } from "./duration.js";

describe("Q2 lengths of time", () => {
  it.each([
    ["30s", 30_000],
    ["500ms", 500],
    ["2m", 120_000],
    ["1m30s", 90_000],
    ["1.5h", 5_400_000],
    ["1d", 86_400_000],
    ["0s", 0],
    [" 5S ", 5_000],
  ])("%s is %d ms", (text, milliseconds) => {
    expect(parseDuration(text)).toBe(milliseconds);
  });

  it.each(["", "30", "s", "-5s", "5 s", "5x", "1e3s", "5s5", "9".repeat(20) + "d", "５s"])("refuses %j", (text) => {
    let thrown: unknown;
    try {
      parseDuration(text);
    } catch (error) {
      thrown = error;
    }
    expect(isCandorError(thrown, "bad-argument")).toBe(true);
  });

  it("reads every number of each unit", () => {
    const units = fc.constantFrom(["ms", 1] as const, ["s", 1_000] as const, ["m", 60_000] as const);
    fc.assert(
      fc.property(fc.nat(1_000_000), units, (count, [unit, size]) => {
        expect(parseDuration(`${count}${unit}`)).toBe(count * size);
      }),
    );
  });

  it.each([
    [0, "0 ms"],
    [850, "850 ms"],
    [12_340, "12.3 s"],
    [245_000, "4 m 5 s"],
    [3_600_000, "1 h"],
    [90_061_000, "1 d 1 h"],
  ])("%d ms is shown as %s", (milliseconds, text) => {
    expect(formatDuration(milliseconds)).toBe(text);
  });
});
