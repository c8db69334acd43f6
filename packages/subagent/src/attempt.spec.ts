import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isCandorError } from "@candor/contract";
import { TestBench, httpError } from "./testing/test-bench.js";

let bench: TestBench;
beforeEach(async () => {
  bench = new TestBench();
  await bench.orchestrator.openRun();
});
afterEach(() => bench.end());

describe("F1 F3 attempt()", () => {
  it.each([
    ["invalid input", { status: 400 }, "not-mine"],
    ["a refusal", { status: 403 }, "not-mine"],
    ["a defect", new TypeError("bug"), "exhausted"],
  ])("does not repeat %s", async (_, thrown, finality) => {
    const task = await bench.accepted();
    let calls = 0;
    await task.run((ctx) =>
      ctx.attempt("call", { maxAttempts: 5 }, () => {
        calls += 1;
        throw thrown as Error;
      }),
    );
    expect(calls).toBe(1);
    expect(bench.payloads("t", "error")).toMatchObject([{ finality, attempts: [] }]);
  });

  it("says exhausted when the tries or the budget are used up", async () => {
    const task = await bench.accepted({ retryBudget: 1 });
    const busy = () => Promise.reject(httpError(429));
    await task.run(async (ctx) => {
      await ctx.attempt("a", { maxAttempts: 5, delayMs: 0 }, busy).catch(() => undefined);
      await ctx.attempt("b", { maxAttempts: 5, delayMs: 0 }, busy);
    });
    expect(bench.payloads("t", "error").map(({ operation, finality }) => [operation, finality])).toEqual([
      ["a", "recoverable"],
      ["a", "exhausted"],
      ["b", "exhausted"],
    ]);
  });

  it("ends a try at its time limit, heeded or not", async () => {
    const task = await bench.accepted();
    const result = await task.run((ctx) => ctx.attempt("slow", { timeoutMs: 5 }, () => new Promise(() => undefined)));
    expect(result.failure).toMatchObject({ type: "transient" });
  });

  it("refuses options that make no sense", async () => {
    const task = await bench.accepted();
    const result = await task.run((ctx) => ctx.attempt("x", { maxAttempts: 0 }, () => 1));
    expect(isCandorError(result.error, "bad-argument")).toBe(true);
  });
});
