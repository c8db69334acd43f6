import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { intentSubject, isCandorError } from "@candor/contract";
import { charge, TestBench, httpError, pass, until } from "./testing/test-bench.js";

let bench: TestBench;
beforeEach(async () => {
  bench = new TestBench();
  await bench.orchestrator.openRun();
});
afterEach(() => bench.end());

describe("R3 R6 R7 recall", () => {
  it("aborts at once, is acknowledged by itself, and refuses what is new", async () => {
    const task = await bench.accepted();
    const result = await task.run(async (ctx) => {
      const waiting = new Promise<never>((_, reject) => {
        ctx.signal.addEventListener("abort", () => {
          reject(ctx.signal.reason as Error);
        });
      });
      const recall = await bench.orchestrator.recall("t");
      expect(ctx.signal.aborted).toBe(true);
      await bench.orchestrator.judge("t", recall);
      await expect(ctx.effect({ intent: "charge" }, () => 1)).rejects.toMatchObject({ code: "recalled" });
      await expect(ctx.attempt("a", {}, () => 1)).rejects.toMatchObject({ code: "recalled" });
      await waiting;
    });
    expect(result).toMatchObject({ claim: "none", finishReason: "recalled" });
    expect(bench.events("t").map(({ kind }) => kind)).toEqual(["accept", "no-side-effects", "acknowledge", "report"]);
    expect(bench.payloads("t", "acknowledge")).toEqual([{ control: 2, manifest: [], takenAt: 1 }]);
  });

  it("S12 stops a call that is backing off", async () => {
    const task = await bench.accepted();
    let calls = 0;
    const running = task.run((ctx) =>
      ctx.attempt("call", { maxAttempts: 9, delayMs: 60_000 }, () => {
        calls += 1;
        throw httpError(429);
      }),
    );
    await until(() => bench.payloads("t", "error").length === 1);
    await bench.orchestrator.recall("t");
    expect(await running).toMatchObject({ finishReason: "recalled" });
    expect(calls).toBe(1);
  });

  it("S10 S11 lists an effect under way and records its outcome afterwards", async () => {
    const task = await bench.accepted();
    let finish: (() => void) | undefined;
    const running = task.run(async (ctx) => {
      await ctx.effect({ intent: "charge" }, (effect) => {
        return new Promise<void>((resolve) => {
          finish = () => {
            expect(effect.signal.aborted).toBe(false);
            resolve();
          };
        });
      });
      return pass;
    });
    await until(() => finish !== undefined);
    const recall = await bench.orchestrator.recall("t");
    await bench.orchestrator.judge("t", recall);
    await until(() => bench.payloads("t", "acknowledge").length === 1);
    finish?.();
    expect(await running).toMatchObject({ finishReason: "recalled" });
    expect(bench.payloads("t", "acknowledge")).toMatchObject([
      { control: 2, takenAt: 2, manifest: [{ dispatch: 2, key: "key-1", intent: "charge", target: "payments" }] },
    ]);
    expect(bench.events("t").map(({ kind }) => kind)).toEqual(["accept", "effect", "acknowledge", "effect", "report"]);
    expect(bench.payloads("t", "no-side-effects")).toEqual([]);
  });

  it("R2 a dispatch behind a recall that is not known yet is refused by the fence", async () => {
    const task = await bench.accepted();
    let calls = 0;
    const result = await task.run(async (ctx) => {
      // Stored without live delivery.
      bench.bus.away = true;
      await bench.orchestrator.recall("t");
      bench.bus.away = false;
      await ctx.effect({ intent: "charge" }, () => (calls += 1));
    });
    expect(calls).toBe(0);
    expect(isCandorError(result.error, "recalled")).toBe(true);
    expect(bench.payloads("t", "effect")).toEqual([]);
    expect(result.finishReason).toBe("recalled");
  });

  it("R2 goes on behind an intent that the guard rejected, if it was not cut off", async () => {
    const task = await bench.accepted();
    const stale = await bench.orchestrator.recall("t");
    expect(task.signal.aborted).toBe(true);
    await bench.orchestrator.judge("t", stale, false);
    await until(() => !task.signal.aborted);
    const result = await task.run(async (ctx) => {
      await ctx.effect({ intent: "charge" }, () => 1);
      return pass;
    });
    expect(result).toMatchObject({ claim: "pass", finishReason: "completed" });
    expect(bench.payloads("t", "acknowledge")).toEqual([]);
  });

  it("fails closed when a rejected recall had cut the work off", async () => {
    const task = await bench.accepted();
    const result = await task.run(async (ctx) => {
      const stale = await bench.orchestrator.recall("t");
      await bench.orchestrator.judge("t", stale, false);
      ctx.signal.throwIfAborted();
      return pass;
    });
    expect(result).toMatchObject({ claim: "fail", finishReason: "error" });
    expect(bench.payloads("t", "acknowledge")).toEqual([]);
  });

  it("R8 a termination cuts effects off and is acknowledged", async () => {
    const task = await bench.accepted();
    let started = false;
    const running = task.run((ctx) =>
      ctx.effect(
        { intent: "charge" },
        (effect) =>
          new Promise((_, reject) => {
            started = true;
            effect.signal.addEventListener("abort", () => {
              reject(new DOMException("cut", "AbortError"));
            });
          }),
      ),
    );
    await until(() => started);
    const order = await bench.orchestrator.terminate("t");
    await bench.orchestrator.judge("t", order);
    expect(await running).toMatchObject({ finishReason: "terminated" });
    expect(bench.payloads("t", "effect").map(({ phase }) => phase)).toEqual(["dispatched", "in-doubt"]);
    expect(bench.payloads("t", "acknowledge")).toMatchObject([{ control: 2 }]);
  });

  it("S14 says nothing more under an epoch that is over", async () => {
    const task = await bench.accepted();
    await expect(
      task.run(async () => {
        await bench.orchestrator.delegate("t", { epoch: 2 });
        return pass;
      }),
    ).rejects.toMatchObject({ code: "fenced" });
    await task.close();
    expect(bench.events("t").map(({ kind }) => kind)).toEqual(["accept"]);
  });

  it("does not heed an intent that the fleet did not sign", async () => {
    const task = await bench.accepted();
    const { orchestrator } = bench;
    const fake = await bench.orchestrator.recall("t");
    const message = bench.bus.messages.find(({ sequence }) => sequence === fake.sequence);
    expect(task.signal.aborted).toBe(true);
    const forged = Uint8Array.from(message?.data ?? []);
    forged[forged.length - 1] = (forged.at(-1) ?? 0) ^ 1;
    const other = await orchestrator.delegate("u");
    const second = await bench.accept(other.token);
    bench.bus.add((message?.subject ?? "").replace(".t.", ".u."), forged);
    expect(second.signal.aborted).toBe(false);
  });

  it("S11 reports without a callback that does not heed the end of the window", async () => {
    const task = await bench.accepted();
    const running = task.run(() => new Promise(() => undefined));
    const recall = await bench.orchestrator.recall("t", 20);
    await bench.orchestrator.judge("t", recall);
    expect(await running).toMatchObject({ claim: "none", finishReason: "recalled" });
  });

  it("is acknowledged also before the task runs and after it has reported", async () => {
    const task = await bench.accepted();
    const recall = await bench.orchestrator.recall("t");
    await bench.orchestrator.judge("t", recall);
    await until(() => bench.payloads("t", "acknowledge").length === 1);
    expect(await task.run((ctx) => ctx.attempt("a", {}, () => 1))).toMatchObject({ finishReason: "recalled" });
    const order = await bench.orchestrator.terminate("t");
    await bench.orchestrator.judge("t", order);
    await until(() => bench.payloads("t", "acknowledge").length === 2);
  });

  it("R2 no effect starts behind an intent on which no guard speaks", async () => {
    const task = await bench.accepted();
    bench.bus.add(
      intentSubject({ lane: bench.orchestrator.lane, run: "run-1", task: "t", fleet: "fleet" }),
      Uint8Array.of(1),
    );
    let calls = 0;
    const result = await task.run((ctx) => ctx.effect({ intent: "charge" }, () => (calls += 1)));
    expect(calls).toBe(0);
    expect(isCandorError(result.error, "fenced")).toBe(true);
    expect(result.finishReason).toBe("error");
  });

  it("R2 ends work under a delegation that the guard rejects after it began", async () => {
    const intent = await bench.orchestrator.delegate("t", { intents: [charge] });
    const task = await bench.accept(intent.token);
    const running = task.run(async (ctx) => {
      await bench.orchestrator.judge("t", intent, false);
      await expect(ctx.effect({ intent: "charge" }, () => 1)).rejects.toMatchObject({ code: "intent-rejected" });
      return pass;
    });
    await expect(running).rejects.toMatchObject({ code: "intent-rejected" });
    expect(bench.events("t").map(({ kind }) => kind)).toEqual(["accept"]);
  });
});
