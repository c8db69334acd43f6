import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { TaskContext } from "./context.js";
import { charge, httpError, pass, TestBench, until } from "./testing/test-bench.js";

let bench: TestBench;
beforeEach(async () => {
  bench = new TestBench();
  await bench.orchestrator.openRun();
});
afterEach(() => bench.end());

const never = (): Promise<never> => new Promise(() => undefined);
const kinds = (): string[] => bench.events("t").map(({ kind }) => kind);

/** A promise, and how it is settled. */
function deferred(): { promise: Promise<void>; resolve: () => void; reject: (error: Error) => void } {
  let [resolve, reject]: [() => void, (error: Error) => void] = [() => undefined, () => undefined];
  const promise = new Promise<void>((yes, no) => ([resolve, reject] = [yes, no]));
  return { promise, resolve, reject };
}

describe("D1 D8 calls that outlive the callback", () => {
  it("are waited for: of two attempts at once both failures stand before the report", async () => {
    const task = await bench.accepted();
    const slow = deferred();
    const running = task.run(async (ctx) => {
      const failing = ctx.attempt("a", {}, () => Promise.reject(httpError(400)));
      void failing.catch(() => {
        setTimeout(() => {
          slow.reject(httpError(503));
        }, 20);
      });
      await Promise.all([failing, ctx.attempt("b", { maxAttempts: 2, delayMs: 1 }, () => slow.promise)]);
      return pass;
    });
    const { report } = await running;
    expect(kinds()).toEqual(["accept", "error", "error", "retry", "report"]);
    expect(report.receipts?.errorLog.byKind).toMatchObject({ error: 2, retry: 1 });
  });

  it("are left when they take too long: a caveat names them, a key task is partly done, and nothing follows", async () => {
    const task = await bench.accepted({ keyTasks: ["look up"] });
    const slow = deferred();
    let signal: AbortSignal | undefined;
    let left: Promise<unknown> | undefined;
    const { report } = await task.run(async (ctx) => {
      await ctx.attempt("lookup", { covers: "look up" }, () => 1);
      left = ctx.attempt("lookup", { covers: "look up", maxAttempts: 3 }, (a) => {
        ({ signal } = a);
        return slow.promise;
      });
      left.catch(() => undefined);
      return pass;
    });
    expect(report.caveats).toHaveLength(1);
    expect(report.confidence.caveats).toBe(1);
    expect(report.coverage).toEqual([{ task: "look up", state: "partial" }]);
    expect(signal?.aborted).toBe(true);
    await expect(left).rejects.toMatchObject({ code: "task-over" });
    slow.reject(httpError(503));
    await task.flush();
    expect(kinds()).toEqual(["accept", "report"]);
  });

  it("start no further try once they are left", async () => {
    const task = await bench.accepted();
    let tries = 0;
    let left: Promise<unknown> | undefined;
    await task.run((ctx) => {
      left = ctx.attempt("b", { maxAttempts: 9, delayMs: 400 }, () => {
        tries += 1;
        throw httpError(503);
      });
      left.catch(() => undefined);
      return pass;
    });
    await expect(left).rejects.toMatchObject({ code: "task-over" });
    expect(tries).toBe(1);
    expect(kinds()).toEqual(["accept", "error", "report"]);
  });

  it("an effect that is left is declared open; its outcome may follow, its error may not", async () => {
    const task = await bench.accepted();
    const paying = deferred();
    let effect: Promise<unknown> | undefined;
    const { report } = await task.run(async (ctx) => {
      let begun: () => void = () => undefined;
      const running = new Promise<void>((resolve) => (begun = resolve));
      effect = ctx.effect({ intent: "charge" }, () => {
        begun();
        return paying.promise;
      });
      effect.catch(() => undefined);
      await running;
      return { claim: "unsure" };
    });
    expect(report.effects).toMatchObject([{ phase: "dispatched" }]);
    expect(report.caveats).toHaveLength(1);
    paying.reject(httpError(500));
    await expect(effect).rejects.toMatchObject({ status: 500 });
    await task.flush();
    expect(kinds()).toEqual(["accept", "effect", "report", "effect"]);
    expect(bench.payloads("t", "effect").at(-1)).toMatchObject({ phase: "in-doubt" });
  });

  it("S10 an effect that fails after the window of a recall says so by its outcome alone", async () => {
    const task = await bench.accepted();
    const paying = deferred();
    let begun = false;
    const running = task.run((ctx) =>
      ctx.effect({ intent: "charge" }, () => {
        begun = true;
        return paying.promise;
      }),
    );
    await until(() => begun);
    await bench.orchestrator.recall("t", 1);
    await running;
    paying.reject(httpError(500));
    await until(() => kinds().at(-1) === "effect");
    await task.flush();
    expect(kinds().slice(kinds().indexOf("report"))).toEqual(["report", "effect"]);
  });

  it("after the report nothing can be added to it", async () => {
    const task = await bench.accepted();
    let late: TaskContext | undefined;
    await task.run((ctx) => {
      late = ctx;
      return pass;
    });
    await expect(late?.error(new TypeError("x"))).rejects.toMatchObject({ code: "task-over" });
    expect(() => late?.caveat("x")).toThrow(expect.objectContaining({ code: "task-over" }));
    expect(() => late?.cover("x", "done")).toThrow(expect.objectContaining({ code: "task-over" }));
    await task.flush();
    expect(kinds()).toEqual(["accept", "report"]);
  });

  it("a recall that comes while they are waited for is the reason that the report gives", async () => {
    const task = await bench.accepted();
    const running = task.run((ctx) => {
      ctx.attempt("b", {}, never).catch(() => undefined);
      return pass;
    });
    await bench.orchestrator.recall("t");
    expect(await running).toMatchObject({ finishReason: "recalled" });
  });
});

describe("Q8 a log that stops answering in the middle of a dispatch", () => {
  it("run() and close() end in time, with their code; the spool is free, and what is in it goes on later", async () => {
    const intent = await bench.orchestrator.delegate("t", { intents: [charge] });
    const task = await bench.accept(intent.token);
    bench.bus.fate = (subject) => (subject.endsWith(".effect") ? "unanswered" : "stored");
    const running = task.run(async (ctx) => {
      await ctx.effect({ intent: "charge" }, () => 1).catch(() => undefined);
      return { claim: "fail" };
    });
    const begun = performance.now();
    await expect(running).rejects.toMatchObject({ code: "publish-unconfirmed" });
    await expect(task.close()).rejects.toMatchObject({ code: "publish-unconfirmed" });
    expect(performance.now() - begun).toBeLessThan(8_000);
    expect(kinds()).not.toContain("report");
    await expect(bench.accept(intent.token)).rejects.toMatchObject({ code: "publish-unconfirmed" });
    bench.bus.fate = () => "stored";
    const again = await bench.accept(intent.token);
    const { report } = await again.run(() => ({ claim: "fail" }));
    expect(report.effects).toMatchObject([{ phase: "not-run" }]);
  });

  it("accept() ends in time", async () => {
    const { token } = await bench.orchestrator.delegate("t");
    bench.bus.fate = () => "unanswered";
    await expect(bench.accept(token)).rejects.toMatchObject({ code: "publish-unconfirmed" });
    bench.bus.fate = () => "stored";
    await bench.accept(token);
  });
});
