import { claims } from "@candor/contract";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isActionable } from "./actionable.js";
import { isActionableReference, shouldSpawnReference } from "./reference/contract.js";
import { decomposition, shouldSpawn, spawnReasons } from "./spawn.js";

const any = fc.oneof(
  fc.double(),
  fc.constantFrom(-1, -0, 0, 1, 2, 399, 400, 2000, 2001, 4000, 0.7, 0.69, 1, 1.01, Number.NaN, Infinity, -Infinity),
);

describe("T1 isActionable", () => {
  const base = { claim: "pass", selfReportedConfidence: 0.9, computedConfidence: null } as const;

  it.each([
    [{}, []],
    [{ selfReportedConfidence: 0.7 }, []],
    [{ computedConfidence: 0.7 }, []],
    [{ claim: "fail" }, ["claim-not-pass"]],
    [{ claim: "none", selfReportedConfidence: null }, ["claim-not-pass", "confidence-missing"]],
    [{ selfReportedConfidence: 0.69 }, ["confidence-low"]],
    [{ selfReportedConfidence: 1.1 }, ["confidence-out-of-range"]],
    [{ selfReportedConfidence: Number.NaN }, ["confidence-out-of-range"]],
    [{ computedConfidence: Infinity }, ["confidence-out-of-range"]],
    [{ computedConfidence: 0.4 }, ["computed-confidence-low"]],
  ] as const)("%j: %j", (change, reasons) => {
    expect(isActionable({ ...base, ...change })).toEqual({ actionable: reasons.length === 0, reasons });
  });

  it("is never milder than the reference", () => {
    fc.assert(
      fc.property(fc.constantFrom(...claims), any, fc.option(any), (claim, confidence, computedConfidence) => {
        const { actionable } = isActionable({ claim, selfReportedConfidence: confidence, computedConfidence });
        if (actionable) expect(isActionableReference({ verdict: claim, verdictIsMember: true, confidence })).toBe(true);
      }),
    );
  });
});

describe("T5 shouldSpawn", () => {
  it.each([
    [[2, 400, 2001], "worth-it"],
    [[1, 400, 2001], "too-few-tool-calls"],
    [[1.5, 400, 2001], "worth-it"],
    [[2, 399, 90_000], "output-too-small"],
    [[2, 400, 2000], "noise-too-little"],
    [[9, 4000, 4000], "under-decomposed"],
    [[9, 3200, 4000], "under-decomposed"],
    [[9, 3199, 4000], "worth-it"],
    [[Number.NaN, 400, 2001], "estimate-invalid"],
    [[2, -1, 2001], "estimate-invalid"],
    [[2, 400, Infinity], "estimate-invalid"],
  ] as const)("%j: %s", ([toolCalls, outputTokens, intermediateTokens], reason) => {
    const decision = shouldSpawn({ toolCalls, outputTokens, intermediateTokens });
    expect(decision).toEqual({ spawn: reason === "worth-it", reason });
    expect(spawnReasons[reason]).not.toBe("");
  });

  it("is never milder than the reference", () => {
    fc.assert(
      fc.property(any, any, any, (toolCalls, outputTokens, intermediateTokens) => {
        const { spawn } = shouldSpawn({ toolCalls, outputTokens, intermediateTokens });
        const reference = shouldSpawnReference({
          estimatedToolCalls: toolCalls,
          expectedOutputTokens: outputTokens,
          estimatedIntermediateTokens: intermediateTokens,
        });
        if (spawn) expect(reference).toBe(true);
      }),
    );
  });
});

describe("T5 under-decomposed", () => {
  it.each([
    [1000, 800, "under-decomposed"],
    [1000, 799, "sound"],
    [1000, 5000, "under-decomposed"],
    [0, 0, "unmeasured"],
    [1000, 0, "unmeasured"],
    [Number.NaN, 5, "unmeasured"],
    [1000, Infinity, "unmeasured"],
  ] as const)("work %d, result %d: %s", (work, result, expected) => {
    expect(decomposition({ work, result })).toBe(expected);
  });
});
