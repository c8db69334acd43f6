import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isCandorError, type PropagatedFailure } from "@candor/contract";
import { TestBench, charge, httpError, pass } from "./testing/test-bench.js";

let bench: TestBench;
beforeEach(async () => {
  bench = new TestBench();
  await bench.orchestrator.openRun();
});
afterEach(() => bench.end());

const hash = new Uint8Array(32).fill(1);
const origin = new Uint8Array(32).fill(2);
const child: Pick<PropagatedFailure, "task" | "epoch" | "hash" | "origin" | "type" | "finality"> = {
  task: "part",
  epoch: 1,
  hash,
  origin: { task: "leaf", epoch: 1, actor: "leafer", hash: origin, type: "unavailable", finality: "exhausted" },
  type: "unavailable",
  finality: "exhausted",
};

describe("F8 passUp()", () => {
  it("records a hop, and the task fails by it with the same type", async () => {
    const task = await bench.accepted();
    const result = await task.run(async (ctx) => {
      throw await ctx.passUp(child);
    });
    const saw = { type: "unavailable", finality: "exhausted" };
    expect(bench.payloads("t", "error")).toMatchObject([
      {
        ...saw,
        recovered: false,
        operation: "delegate",
        hop: { task: "part", previous: hash, origin, saw, did: "passed" },
      },
    ]);
    expect(result).toMatchObject({ claim: "fail", failure: { type: "unavailable" } });
    expect(result.report.failure).toMatchObject({ ...saw, operation: "delegate" });
  });

  it("lets a layer say less, or recover", async () => {
    const task = await bench.accepted();
    const result = await task.run(async (ctx) => {
      await ctx.passUp(child, { did: "downgraded", type: "partial", finality: "recoverable", operation: "buy" });
      await ctx.passUp(child, { did: "recovered" });
      return pass;
    });
    expect(bench.payloads("t", "error")).toMatchObject([
      { type: "partial", operation: "buy", recovered: false, hop: { did: "downgraded" } },
      { type: "unavailable", recovered: true, hop: { did: "recovered" } },
    ]);
    expect(result.report.failure).toBeUndefined();
  });

  it.each([
    ["what is passed as something else", { type: "partial" }],
    ["a deed that there is not", { did: "hidden" }],
    ["a type that there is not", { did: "translated", type: "timeout" }],
    ["an operation that is none", { operation: "" }],
  ])("refuses %s, and records nothing", async (_, options) => {
    const task = await bench.accepted();
    await task.run(async (ctx) => {
      const refused: unknown = await ctx.passUp(child, options as never).catch((error: unknown) => error);
      expect(isCandorError(refused, "bad-argument")).toBe(true);
      return pass;
    });
    expect(bench.payloads("t", "error")).toEqual([]);
  });
});

describe("F2 F3 F6 what a failed report says of its failure", () => {
  it("is the error with which the task ended, with its tries and what had happened", async () => {
    const task = await bench.accepted({ intents: [charge] });
    const { report } = await task.run(async (ctx) => {
      await ctx.effect({ intent: "charge" }, (effect) => {
        effect.identify({ payment: "p-1" });
      });
      await ctx.attempt("other", {}, () => Promise.reject(httpError(500))).catch(() => undefined);
      await ctx.attempt("call", { upstream: "books", maxAttempts: 2, delayMs: 0 }, () =>
        Promise.reject(httpError(429)),
      );
    });
    const errors = bench.payloads("t", "error");
    expect(errors.map(({ operation }) => operation)).toEqual(["other", "call", "call"]);
    expect(report.failure).toMatchObject({
      type: "transient",
      finality: "exhausted",
      operation: "call",
      upstream: "books",
      attempt: 2,
      attempts: [{ attempt: 1, delayMs: 0 }],
      effects: [{ intent: "charge", key: charge.key, identifiers: { payment: "p-1" } }],
      effectsOmitted: 0,
    });
  });

  it("is the last one that nothing recovered, where the callback says so without throwing", async () => {
    const task = await bench.accepted();
    const { report } = await task.run(async (ctx) => {
      await ctx.attempt("first", {}, () => Promise.reject(httpError(403))).catch(() => undefined);
      await ctx.error(new TypeError("dealt with"), { recovered: true });
      return { claim: "fail" };
    });
    expect(report.failure).toMatchObject({ type: "denied", operation: "first" });
  });

  it("is absent where there is no such error", async () => {
    const task = await bench.accepted();
    expect((await task.run(() => ({ claim: "fail" }))).report.failure).toBeUndefined();
  });
});
