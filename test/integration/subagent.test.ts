import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { BriefOptions } from "@candor/orchestrator";
import type { QuarantineNotice, Subagent, SubagentTask } from "@candor/subagent";
import { startSubagentStage, type SubagentStage } from "../kit/subagent-stage.js";

let stage: SubagentStage;
let agent: Subagent;
const notices: QuarantineNotice[] = [];

beforeAll(async () => {
  stage = await startSubagentStage();
  agent = await stage.agent();
  agent.onQuarantine((notice) => notices.push(notice));
});
afterAll(() => stage.close());

async function delegated(brief: BriefOptions = {}): Promise<{ id: string; task: SubagentTask }> {
  const { task: id, token } = await stage.delegate(brief);
  return { id, task: await agent.accept(token) };
}

const decide = (id: string): Promise<unknown> => stage.decide(id);
/** Rejects with the signal's reason. */
const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener("abort", () => {
      reject(signal.reason as Error);
    });
  });
const busy = (status: number): Error => Object.assign(new TypeError(`status ${status}`), { status });

describe("D5 D8 an honest subagent on a real server", () => {
  it("S5 S16 ends fully disclosed, with its recovered errors and its retries listed", async () => {
    const { id, task } = await delegated({ keyTasks: ["lookup", "pay"] });
    const failures = [busy(429), busy(529)];
    const result = await task.run(async (ctx) => {
      await ctx.error(new TypeError("ls failed"), { operation: "ls", recovered: true });
      await ctx.attempt("lookup", { covers: "lookup", upstream: "db", maxAttempts: 4, delayMs: 1 }, () => {
        const failure = failures.shift();
        if (failure !== undefined) throw failure;
        return 1;
      });
      await ctx.effect({ intent: "charge", covers: "pay", arguments: { amount: 5 } }, (effect) => {
        effect.identify({ payment: effect.key });
      });
      return { claim: "pass", summary: "paid" };
    });
    expect(result.stored).toBe(true);
    expect(result.report.receipts?.retries.entries).toHaveLength(2);
    expect(await decide(id)).toEqual({
      action: "proceed",

      disclosure: "FULL_DISCLOSURE_VERIFIED",
      findings: [],
    });
  });

  it("S6 a failure is disclosed as one, with its attempts", async () => {
    const { id, task } = await delegated();
    const result = await task.run((ctx) =>
      ctx.attempt("call", { maxAttempts: 2, delayMs: 1 }, () => Promise.reject(busy(429))),
    );
    expect(result).toMatchObject({ claim: "fail", failure: { type: "transient" } });
    expect(await decide(id)).toMatchObject({
      action: "redispatch",
      disclosure: "FULL_DISCLOSURE_VERIFIED",
      findings: [],
    });
  });

  it("S1 S2 an error that nothing answered does not pass for a success", async () => {
    const { id, task } = await delegated();
    await task.run(async (ctx) => {
      await ctx.attempt("model", {}, () => Promise.reject(busy(500))).catch(() => undefined);
      return { claim: "pass", summary: "" };
    });
    expect(await decide(id)).toMatchObject({
      action: "halt",
      disclosure: "CONCEALMENT_DETECTED",
      findings: ["unrecovered-under-success", "no-work"],
    });
  });

  it("S3 no claim is no success", async () => {
    const { id, task } = await delegated();
    await task.run(() => undefined);
    expect(await decide(id)).toMatchObject({
      disclosure: "PARTIAL_DISCLOSURE_RISK",
      findings: ["finish-reason-missing"],
    });
  });

  it("D1 D2 receipts in parts are put together by the guard", async () => {
    const { id, task } = await delegated({ retryBudget: 2_000 });
    const result = await task.run(async (ctx) => {
      const calls = Array.from({ length: 1_000 }, (_, i) => {
        let first = true;
        return ctx.attempt(`call ${i} ${"with a long name ".repeat(7)}`, { maxAttempts: 2, delayMs: 0 }, () => {
          if (!first) return;
          first = false;
          throw busy(503);
        });
      });
      await Promise.all(calls);
      return { claim: "pass" };
    });
    expect(result.report.receiptParts).toBeGreaterThan(1);
    expect(await decide(id)).toMatchObject({ disclosure: "FULL_DISCLOSURE_VERIFIED", findings: [] });
  });

  it("S25 many concurrent calls make one chain", async () => {
    const { id, task } = await delegated({ retryBudget: 1_000 });
    await task.run(async (ctx) => {
      const calls = Array.from({ length: 300 }, (_, i) => {
        let first = true;
        return ctx.attempt(`call-${i}`, { maxAttempts: 2, delayMs: i % 5 }, () => {
          if (!first) return;
          first = false;
          throw busy(503);
        });
      });
      await Promise.all([...calls, ctx.effect({ intent: "charge" }, ({ key }) => key)]);
      return { claim: "pass" };
    });
    expect(await decide(id)).toMatchObject({ disclosure: "FULL_DISCLOSURE_VERIFIED", findings: [] });
  });
});

describe("R3 R6 R7 R10 recall on a real server", () => {
  it("without effects is safe", async () => {
    const { id, task } = await delegated();
    const running = task.run((ctx) => aborted(ctx.signal));
    await stage.run.recall(id, { graceMs: 5_000, reason: "test" });
    expect(await running).toMatchObject({ claim: "none", finishReason: "recalled" });
    expect(await decide(id)).toMatchObject({ recall: "RECALL_NO_SIDE_EFFECTS_SAFE", findings: [] });
  });

  it("S8 S10 in the middle of a payment is pending until it is over, and never a plain stop", async () => {
    const { id, task } = await delegated();
    let finish: (() => void) | undefined;
    const running = task.run(async (ctx) => {
      await ctx.effect({ intent: "charge" }, ({ key }) => {
        return new Promise<string>((resolve) => {
          finish = () => {
            resolve(key);
          };
        });
      });
      await expect(ctx.effect({ intent: "charge" }, () => 2)).rejects.toMatchObject({ code: "recalled" });
      return { claim: "pass" };
    });
    while (finish === undefined) await new Promise(setImmediate);
    await stage.run.recall(id, { graceMs: 30_000, reason: "test" });
    for await (const { verdict } of stage.run.verdicts()) {
      if (verdict.task !== id || verdict.verdict !== "RECALL_INFLIGHT_ACTIONS_PENDING") continue;
      expect(verdict.inFlight).toMatchObject([{ intent: "charge", target: "payments" }]);
      break;
    }
    finish();
    expect(await running).toMatchObject({ finishReason: "recalled", stored: true });
    expect(await decide(id)).toMatchObject({ action: "reconcile", recall: "RECALL_ACTIVE", findings: [] });
  });

  it("R8 a termination leaves what was under way unknown", async () => {
    const { id, task } = await delegated();
    let started: boolean | undefined;
    const running = task.run((ctx) =>
      ctx.effect({ intent: "charge" }, (effect) => {
        started = true;
        return aborted(effect.signal);
      }),
    );
    while (started === undefined) await new Promise(setImmediate);
    await stage.run.terminate(id, { reason: "test", force: true });
    expect(await running).toMatchObject({ finishReason: "terminated" });
    expect(await decide(id)).toMatchObject({ recall: "TERMINATED_WITH_UNKNOWNS" });
  });

  it("S14 R11 a task that was delegated anew is over for the old epoch", async () => {
    const { id, task } = await delegated();
    const old = task.run(async (ctx) => {
      await new Promise((resolve) => {
        ctx.signal.addEventListener("abort", resolve);
      });
    });
    const ended = expect(old).rejects.toMatchObject({ code: "fenced" });
    const again = await stage.redelegate(id);
    await ended;
    const second = await agent.accept(again.token);
    await second.run(async (ctx) => {
      await ctx.effect({ intent: "charge" }, () => 1);
      return { claim: "pass" };
    });
    expect(await decide(id)).toMatchObject({ action: "proceed", disclosure: "FULL_DISCLOSURE_VERIFIED" });
  });

  it("no event of this SDK was put into quarantine", () => {
    expect(notices).toEqual([]);
  });
});
