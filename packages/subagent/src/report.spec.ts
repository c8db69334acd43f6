import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  concatBytes,
  decodeValue,
  evidenceLimits,
  encodePayload,
  limits,
  receiptsSchema,
  Tally,
} from "@candor/contract";
import { createDataKey, unseal } from "@candor/ledger";
import type { TaskContext } from "./context.js";
import { Prose } from "./prose.js";
import { makeReport } from "./report.js";
import { defaultScope } from "./scope.js";
import { TestBench, httpError, pass } from "./testing/test-bench.js";

let bench: TestBench;
beforeEach(async () => {
  bench = new TestBench();
  await bench.orchestrator.openRun();
});
afterEach(() => bench.end());

describe("D1 D2 D3 a task's report", () => {
  it("lists errors, retries, coverage and confidence, made from what was recorded", async () => {
    const task = await bench.accepted({ keyTasks: ["lookup", "mail"] });
    let calls = 0;
    const result = await task.run(async (ctx) => {
      const options = { covers: "lookup", upstream: "db", maxAttempts: 3, delayMs: 1 };
      const rows = await ctx.attempt("lookup", options, () => {
        calls += 1;
        if (calls < 3) throw httpError(429);
        return ["row"];
      });
      expect(rows).toEqual(["row"]);
      ctx.caveat("not checked");
      return pass;
    });
    expect(bench.events("t").map(({ kind }) => kind)).toEqual(["accept", "error", "error", "retry", "retry", "report"]);
    expect(bench.payloads("t", "error")).toMatchObject([
      { type: "transient", finality: "recoverable", attempt: 1, attempts: [], upstream: "db" },
      { type: "transient", finality: "recoverable", attempt: 2, attempts: [{ attempt: 1, reason: 2 }] },
    ]);
    expect(bench.payloads("t", "retry")).toMatchObject([
      { attempt: 2, reason: 2, outcome: "failed", delayMs: 1 },
      { attempt: 3, reason: 3, outcome: "ok", delayMs: 1 },
    ]);
    const { report } = result;
    expect(report).toMatchObject({
      claim: "pass",
      finishReason: "completed",
      coverage: [
        { task: "lookup", state: "done" },
        { task: "mail", state: "skipped" },
      ],
      work: { calls: 1, succeeded: 1 },
      receipts: {
        errorLog: { count: 5, first: 1, last: 5, byType: { transient: 2 }, byKind: { accept: 1, error: 2, retry: 2 } },
        retries: { unseen: ["modelAttempts", "transportAttempts"] },
      },
      confidence: { formula: 1, caveats: 1 },
    });
    expect(report.receipts?.errorLog.errors.map(({ recovered }) => recovered)).toEqual([true, true]);
    expect(report.receipts?.retries.entries.map(({ seq }) => seq)).toEqual([4, 5]);
    expect(result.stored).toBe(true);
  });

  it("Q5 seals prose under the run's data key, secrets redacted", async () => {
    const task = await bench.accepted();
    await task.run((ctx) => {
      ctx.caveat("used ghp_0123456789012345678901234567890123456789");
      return { claim: "unsure", summary: "plain words" };
    });
    const [report] = bench.payloads("t", "report");
    const { dataKey } = bench.orchestrator;
    expect(unseal(report?.summary ?? new Uint8Array(), dataKey)).toBe("plain words");
    expect(unseal(report?.caveats[0] ?? new Uint8Array(), dataKey)).toBe("used [redacted:github-token]");
    const stored = bench.bus.messages.map(({ data }) => Buffer.from(data).toString("latin1")).join();
    expect(stored).not.toContain("plain words");
  });

  it.each([
    ["nothing", undefined, { claim: "none", finishReason: "missing" }],
    ["text instead of a claim", "all good", { claim: "none", finishReason: "missing" }],
    ["success: true", { success: true }, { claim: "none", finishReason: "missing" }],
    ["a claim that is none", { claim: "perfect" }, { claim: "fail", finishReason: "error" }],
    ["a claim of none", { claim: "none" }, { claim: "fail", finishReason: "error" }],
  ])("S3 a callback that returns %s has claimed no success", async (_, value, wanted) => {
    const task = await bench.accepted();
    expect(await task.run(() => value)).toMatchObject(wanted);
  });

  it.each([
    ["an error", new TypeError("broken"), "defect"],
    ["S6 a 429", { status: 429, message: "too many" }, "transient"],
    ["a string", "oops", "defect"],
    ["nothing", undefined, "defect"],
  ])("S3 a callback that throws %s ends in a typed failure", async (_, thrown, type) => {
    const task = await bench.accepted();
    const result = await task.run(() => {
      throw thrown as Error;
    });
    expect(result).toMatchObject({ claim: "fail", finishReason: "error", failure: { type } });
    expect(result.error).toBe(thrown);
    expect(bench.payloads("t", "error")).toMatchObject([{ type, operation: "task", finality: "exhausted" }]);
  });

  it("tells an error once, however many layers it passes through", async () => {
    const task = await bench.accepted();
    const failing = (ctx: TaskContext, thrown: unknown) =>
      ctx.attempt("outer", { maxAttempts: 2, delayMs: 0 }, () =>
        ctx.attempt("inner", { maxAttempts: 2, delayMs: 0 }, () => {
          throw thrown as Error;
        }),
      );
    await task.run((ctx) => failing(ctx, new TypeError("x")));
    expect(bench.payloads("t", "error")).toHaveLength(1);
  });

  it("D8 S5 an error of an inner layer is recovered by the outer one's success", async () => {
    const task = await bench.accepted();
    let calls = 0;
    const result = await task.run(async (ctx) => {
      await ctx.attempt("outer", { maxAttempts: 3, delayMs: 0 }, () =>
        ctx.attempt("inner", { maxAttempts: 2, delayMs: 0 }, () => {
          calls += 1;
          if (calls < 5) throw httpError(503);
        }),
      );
      return pass;
    });
    const errors = result.report.receipts?.errorLog.errors;
    expect(errors).toHaveLength(4);
    expect(errors?.every(({ recovered }) => recovered)).toBe(true);
  });

  it("D8 S5 an error dealt with is recovered, told before or not", async () => {
    const task = await bench.accepted();
    const result = await task.run(async (ctx) => {
      await ctx.error(new TypeError("a"), { operation: "ls", recovered: true });
      const told = new TypeError("b");
      await ctx.attempt("read", {}, () => Promise.reject(told)).catch(() => undefined);
      await ctx.error(told, { operation: "read-elsewhere", recovered: true });
      return pass;
    });
    expect(result.report.receipts?.errorLog.errors.map(({ recovered }) => recovered)).toEqual([true, true]);
  });

  it("sends receipts that are too many ahead of the report", async () => {
    const task = await bench.accepted();
    const result = await task.run(async (ctx) => {
      const failing = Array.from({ length: 5_000 }, (_, i) => ctx.error(new TypeError(`e${i}`), { recovered: true }));
      await Promise.all(failing);
      return pass;
    });
    const parts = bench.payloads("t", "receipt");
    expect(result.report.receipts).toBeUndefined();
    expect(parts).toHaveLength(result.report.receiptParts);
    expect(parts.length).toBeGreaterThan(1);
    expect(bench.events("t").slice(-1 - parts.length).map(({ kind }) => kind)).toEqual([...parts.map(() => "receipt"), "report"]); // prettier-ignore
  }, 30_000);
});

describe("D9 a report of very many effects", () => {
  it("sends them ahead with the receipts, and fits a message", () => {
    const effects = Array.from({ length: 10_000 }, (_, i) => {
      return { dispatch: i + 1, key: `k${i}`.padEnd(64, "x"), phase: "committed" as const };
    });
    const facts = {
      claim: "pass" as const,
      finishReason: "completed" as const,
      coverage: [],
      effects,
      retries: [],
      scope: defaultScope("enforce"),
      keyTasks: [],
      upstreams: [],
      amplification: undefined,
      work: { calls: 1, succeeded: 1 },
      summary: "done",
      caveats: Array.from({ length: 1_000 }, () => "x".repeat(1_000)),
      selfReportedConfidence: undefined,
      consumed: 0,
      upwardReport: undefined,
      evidence: Array.from({ length: evidenceLimits.maxHandles }, () => ({
        actor: "x".repeat(64),
        hash: new Uint8Array(32),
        size: evidenceLimits.maxBytes,
        label: new Uint8Array(evidenceLimits.maxLabelBytes + 40),
      })),
      failure: undefined,
    };
    const moment = { last: 0, head: new Uint8Array(32), tally: new Tally() };
    const { report, receipts } = makeReport(facts, moment, new Prose(createDataKey()));
    expect(encodePayload("report", report).length).toBeLessThan(limits.maxMessageBytes - 1_024);
    expect(report).toMatchObject({ effects: [], receiptParts: receipts.length });
    const bytes = concatBytes(...receipts.map(({ content }) => content));
    expect(receiptsSchema.parse(decodeValue(bytes)).effects).toEqual(effects);
    for (const part of receipts) expect(encodePayload("receipt", part).length).toBeLessThan(limits.maxMessageBytes);
  });
});

describe("Q6 a callback's calls", () => {
  it("give and throw what they would without the SDK", async () => {
    const thrown = { status: 503 };
    const value = { rows: [1] };
    const calls: string[] = [];
    const call = (name: string) => (): unknown => {
      calls.push(name);
      if (name === "bad") throw thrown as unknown as Error;
      return value;
    };
    const plain = (name: string) => call(name)();
    const outcome = async (run: (name: string) => unknown): Promise<unknown[]> => {
      calls.length = 0;
      const good = await run("good");
      const bad = await Promise.resolve()
        .then(() => run("bad"))
        .catch((error: unknown) => error);
      return [good, bad, [...calls]];
    };
    const without = await outcome(plain);
    const task = await bench.accepted();
    await task.run(async (ctx) => {
      const observed = await outcome((name) => ctx.attempt(name, {}, call(name)));
      expect(observed).toEqual(without);
      expect(observed[0]).toBe(value);
      expect(observed[1]).toBe(thrown);
    });
  });

  it("are refused once the callback has returned", async () => {
    const task = await bench.accepted();
    let late: TaskContext | undefined;
    await task.run((ctx) => {
      late = ctx;
      return pass;
    });
    await expect(late?.effect({ intent: "charge" }, () => 1)).rejects.toMatchObject({ code: "task-over" });
    await expect(task.run(() => pass)).rejects.toMatchObject({ code: "task-over" });
  });
});
