import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { charge, httpError, pass, TestBench } from "./testing/test-bench.js";

let bench: TestBench;
beforeEach(async () => {
  bench = new TestBench();
  await bench.orchestrator.openRun();
});
afterEach(() => bench.end());

const again = (maxAttempts: number) => ({ maxAttempts, delayMs: 0 });

/** A call that fails so many times and then succeeds. */
function failing(times: number): () => string {
  let calls = 0;
  return () => {
    calls += 1;
    if (calls <= times) throw httpError(503);
    return "ok";
  };
}

describe("D2 calls are counted by code", () => {
  it("S16 each upstream's: calls, those that succeeded at their first try, and tries", async () => {
    const task = await bench.accepted({ intents: [charge] });
    const result = await task.run(async (ctx) => {
      await ctx.attempt("look up", { upstream: "stock", ...again(3) }, failing(2));
      await ctx.attempt("look up", { upstream: "stock" }, failing(0));
      await ctx.attempt("ask", { upstream: "model", ...again(2) }, failing(9)).catch(() => undefined);
      await ctx.attempt("think", {}, failing(0));
      await ctx.effect({ intent: "charge" }, ({ key }) => key);
      return { claim: "unsure" };
    });
    expect(result.report.upstreams).toEqual([
      { upstream: "stock", calls: 2, firstTry: 1, tries: 4 },
      { upstream: "model", calls: 1, firstTry: 0, tries: 2 },
      { upstream: "payments", calls: 1, firstTry: 1, tries: 1 },
    ]);
    expect(result.report.receipts?.retries.amplification).toEqual({
      requests: 3,
      layers: [{ operation: "look up", tries: 3 }],
    });
  });

  it("S17 three tries of each of four: twelve requests, and the layers named", async () => {
    const task = await bench.accepted({ intents: [], retryBudget: 20 });
    let requests = 0;
    const result = await task.run(async (ctx) => {
      await ctx.attempt("turn", again(4), () =>
        ctx.attempt("http", { upstream: "model", ...again(3) }, () => {
          requests += 1;
          if (requests < 12) throw httpError(503);
        }),
      );
      return pass;
    });
    expect(requests).toBe(12);
    expect(result.report.receipts?.retries.amplification).toEqual({
      requests: 12,
      layers: [
        { operation: "turn", tries: 4 },
        { operation: "http", tries: 3 },
      ],
    });
    expect(result.report.upstreams).toEqual([{ upstream: "model", calls: 4, firstTry: 0, tries: 12 }]);
  });

  it("calls side by side are no repetition, and where nothing was repeated nothing is said", async () => {
    const task = await bench.accepted({ intents: [] });
    const result = await task.run(async (ctx) => {
      await ctx.attempt("turn", again(2), async () => {
        await Promise.all(Array.from({ length: 10 }, (_, i) => ctx.attempt(`read ${i}`, {}, failing(0))));
      });
      return pass;
    });
    expect(result.report.receipts?.retries.amplification).toBeUndefined();
    expect(result.report.upstreams).toBeUndefined();
  });

  it("an effect within a call to the same upstream is that call's try", async () => {
    const task = await bench.accepted();
    let calls = 0;
    const result = await task.run(async (ctx) => {
      await ctx.attempt("pay", { upstream: "payments", ...again(2) }, () =>
        ctx.effect({ intent: "charge" }, ({ key }) => {
          calls += 1;
          if (calls === 1) throw httpError(429);
          return key;
        }),
      );
      return pass;
    });
    expect(result.report.upstreams).toEqual([{ upstream: "payments", calls: 1, firstTry: 0, tries: 2 }]);
  });
});
