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

  const asking = (text: string) => Object.assign(httpError(429), { headers: { "retry-after-ms": text } });

  it("waits as long as the other side asks for, and says so", async () => {
    const task = await bench.accepted();
    let calls = 0;
    await task.run((ctx) =>
      ctx.attempt("a", { maxAttempts: 2 }, () => {
        calls += 1;
        if (calls === 1) throw asking("130");
      }),
    );
    expect(bench.payloads("t", "error")).toMatchObject([{ finality: "recoverable", retryAfterMs: 130 }]);
    expect(bench.payloads("t", "retry")).toMatchObject([{ delayMs: 130, outcome: "ok" }]);
  });

  it("gives up where the other side asks for more than a minute, and tells the receiver how long", async () => {
    const task = await bench.accepted();
    await task.run((ctx) => ctx.attempt("a", { maxAttempts: 2 }, () => Promise.reject(asking("60001"))));
    expect(bench.payloads("t", "error")).toMatchObject([{ finality: "exhausted", retryAfterMs: 60_001, attempts: [] }]);
  });

  it("leaves the pause to the caller who names one", async () => {
    const task = await bench.accepted();
    await task.run((ctx) => ctx.attempt("a", { maxAttempts: 2, delayMs: 0 }, () => Promise.reject(asking("9000000"))));
    expect(bench.payloads("t", "retry")).toMatchObject([{ delayMs: 0, outcome: "failed" }]);
  });

  const never = (): never => { throw new RangeError("nobody looks"); }; // prettier-ignore
  it.each<[string, () => unknown]>([
    ["a proxy", () => new Proxy({}, { get: never, getPrototypeOf: never })],
    ["a cause", () => Object.defineProperty(new Error("shy"), "cause", { get: never })],
  ])("Q6 hands on what was thrown as it was, also where it can't be looked at: %s", async (_, make) => {
    const thrown = make();
    const task = await bench.accepted();
    const result = await task.run((ctx) => ctx.attempt("call", {}, () => Promise.reject(thrown as Error)));
    // No matcher, since it would look.
    expect(result.error === thrown).toBe(true);
    expect(bench.payloads("t", "error")).toMatchObject([{ type: "defect", finality: "exhausted" }]);
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
