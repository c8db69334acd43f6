import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hex, isCandorError } from "@candor/contract";
import { createSeed, createSigner, unseal } from "@candor/ledger";
import type { TaskContext } from "./context.js";
import { HandOrchestrator } from "./testing/hand-orchestrator.js";
import { TestBench } from "./testing/test-bench.js";

let bench: TestBench;
beforeEach(async () => {
  bench = new TestBench();
  await bench.orchestrator.openRun();
});
afterEach(() => bench.end());

const charge = { intent: "charge", key: "key-1", target: "payments" } as const;
const pass = { claim: "pass", summary: "done" } as const;
const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 1));
};

async function accepted(facts: Parameters<TestBench["orchestrator"]["delegate"]>[1] = { intents: [charge] }) {
  const intent = await bench.orchestrator.delegate("t", facts);
  return bench.accept(intent.token);
}

describe("D1 D2 D3 a task's report", () => {
  it("lists errors, retries, coverage and confidence, made from what was recorded", async () => {
    const task = await accepted({ keyTasks: ["lookup", "mail"] });
    let calls = 0;
    const result = await task.run(async (ctx) => {
      const options = { covers: "lookup", upstream: "db", maxAttempts: 3, delayMs: 1 };
      const rows = await ctx.attempt("lookup", options, () => {
        calls += 1;
        if (calls < 3) throw Object.assign(new TypeError("busy"), { status: 429 });
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
    const task = await accepted();
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
    const task = await accepted();
    expect(await task.run(() => value)).toMatchObject(wanted);
  });

  it.each([
    ["an error", new TypeError("broken"), "defect"],
    ["S6 a 429", { status: 429, message: "too many" }, "transient"],
    ["a string", "oops", "defect"],
    ["nothing", undefined, "defect"],
  ])("S3 a callback that throws %s ends in a typed failure", async (_, thrown, type) => {
    const task = await accepted();
    const result = await task.run(() => {
      throw thrown as Error;
    });
    expect(result).toMatchObject({ claim: "fail", finishReason: "error", failure: { type } });
    expect(result.error).toBe(thrown);
    expect(bench.payloads("t", "error")).toMatchObject([{ type, operation: "task", finality: "exhausted" }]);
  });

  it("tells an error once, however many layers it passes through", async () => {
    const task = await accepted();
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
    const task = await accepted();
    let calls = 0;
    const result = await task.run(async (ctx) => {
      await ctx.attempt("outer", { maxAttempts: 3, delayMs: 0 }, () =>
        ctx.attempt("inner", { maxAttempts: 2, delayMs: 0 }, () => {
          calls += 1;
          if (calls < 5) throw Object.assign(new TypeError(`busy ${calls}`), { status: 503 });
        }),
      );
      return pass;
    });
    const errors = result.report.receipts?.errorLog.errors;
    expect(errors).toHaveLength(4);
    expect(errors?.every(({ recovered }) => recovered)).toBe(true);
  });

  it("D8 S5 an error dealt with is recovered, told before or not", async () => {
    const task = await accepted();
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
    const task = await accepted();
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

describe("F1 F3 attempt()", () => {
  it.each([
    ["invalid input", { status: 400 }, "not-mine"],
    ["a refusal", { status: 403 }, "not-mine"],
    ["a defect", new TypeError("bug"), "exhausted"],
  ])("does not repeat %s", async (_, thrown, finality) => {
    const task = await accepted();
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

  it("Q6 adds no retry that was not asked for and passes values and errors on unchanged", async () => {
    const task = await accepted();
    const thrown = { status: 503 };
    const value = { rows: [1] };
    let calls = 0;
    await task.run(async (ctx) => {
      const failing = ctx.attempt("call", {}, () => {
        calls += 1;
        throw thrown as unknown as Error;
      });
      await expect(failing).rejects.toBe(thrown);
      expect(await ctx.attempt("ok", {}, () => value)).toBe(value);
    });
    expect(calls).toBe(1);
  });

  it("says exhausted when the tries or the budget are used up", async () => {
    const task = await accepted({ retryBudget: 1 });
    const busy = () => Promise.reject(Object.assign(new TypeError("busy"), { status: 429 }));
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
    const task = await accepted();
    const result = await task.run((ctx) => ctx.attempt("slow", { timeoutMs: 5 }, () => new Promise(() => undefined)));
    expect(result.failure).toMatchObject({ type: "transient" });
  });

  it("refuses options that make no sense", async () => {
    const task = await accepted();
    const result = await task.run((ctx) => ctx.attempt("x", { maxAttempts: 0 }, () => 1));
    expect(isCandorError(result.error, "bad-argument")).toBe(true);
  });
});

describe("F7 Q1 effect()", () => {
  it("runs after its dispatch is stored, under the minted key, and tells identifiers", async () => {
    const task = await accepted();
    let kinds: string[] = [];
    const result = await task.run(async (ctx) => {
      const value = await ctx.effect({ intent: "charge", covers: "pay", arguments: { amount: 1 } }, (effect) => {
        kinds = bench.events("t").map(({ kind }) => kind);
        effect.identify({ payment: "p-1" });
        return { key: effect.key };
      });
      expect(value).toEqual({ key: "key-1" });
      return pass;
    });
    expect(kinds).toEqual(["accept", "effect"]);
    expect(bench.payloads("t", "effect")).toMatchObject([
      { phase: "dispatched", key: "key-1", target: "payments" },
      { phase: "committed", dispatch: 2, identifiers: { payment: "p-1" } },
    ]);
    expect(result.report.effects).toEqual([{ dispatch: 2, key: "key-1", phase: "committed" }]);
    expect(bench.bus.stored("candor.key.agent.run-1.key-1.claim-1")).toHaveLength(1);
    expect(bench.bus.stored("candor.key.agent.run-1.key-1.done")).toHaveLength(1);
  });

  it("S18 S20 happens once, however often it is asked for, and gives the first result", async () => {
    const task = await accepted();
    let calls = 0;
    await task.run(async (ctx) => {
      const pay = () =>
        ctx.effect({ intent: "charge" }, async () => {
          await Promise.resolve();
          calls += 1;
          return { id: calls };
        });
      expect(await Promise.all([pay(), pay(), pay()])).toEqual([{ id: 1 }, { id: 1 }, { id: 1 }]);
      expect(await pay()).toEqual({ id: 1 });
      return pass;
    });
    expect(calls).toBe(1);
    expect(bench.payloads("t", "effect")).toHaveLength(2);
  });

  it("refuses one key for two meanings", async () => {
    const task = await accepted();
    const result = await task.run(async (ctx) => {
      await ctx.effect({ intent: "charge", arguments: { amount: 1 } }, () => 1);
      await ctx.effect({ intent: "charge", arguments: { amount: 2 } }, () => 2);
      return pass;
    });
    expect(result).toMatchObject({ claim: "fail", failure: { type: "conflict" } });
    expect(isCandorError(result.error, "intent-key-reuse")).toBe(true);
  });

  it.each([
    ["enforce", undefined],
    ["observe", "unminted-"],
  ] as const)("without a minted key: %s", async (mode, prefix) => {
    const intent = await bench.orchestrator.delegate("t");
    const task = await bench.accept(intent.token, { mode });
    let ran = 0;
    const result = await task.run(async (ctx) => {
      for (let i = 0; i < 2; i += 1) await ctx.effect({ intent: "mail", target: "smtp" }, () => (ran += 1));
      return pass;
    });
    expect(ran).toBe(prefix === undefined ? 0 : 2);
    expect(result.claim).toBe(prefix === undefined ? "fail" : "pass");
    if (prefix === undefined) expect(isCandorError(result.error, "intent-key-unknown")).toBe(true);
    for (const { key } of bench.payloads("t", "effect")) expect(key.startsWith(prefix ?? "-")).toBe(true);
  });

  it.each([
    ["turned away", { status: 402 }, "failed"],
    ["cut off", Object.assign(new TypeError("reset"), { code: "ECONNRESET" }), "in-doubt"],
    ["S19 timed out", new DOMException("late", "TimeoutError"), "in-doubt"],
  ])("tells an effect that was %s as what it is", async (_, thrown, phase) => {
    const task = await accepted();
    let calls = 0;
    const result = await task.run(async (ctx) => {
      const pay = () =>
        ctx.effect({ intent: "charge" }, () => {
          calls += 1;
          throw thrown as Error;
        });
      await pay().catch(() => undefined);
      await pay();
    });
    expect(bench.payloads("t", "effect").map((effect) => effect.phase).slice(0, 2)).toEqual(["dispatched", phase]); // prettier-ignore
    expect(calls).toBe(phase === "failed" ? 2 : 1);
    if (phase === "in-doubt") expect(isCandorError(result.error, "intent-key-in-doubt")).toBe(true);
  });

  it("Q1 does not run while the bus is away, and facts wait in the spool", async () => {
    const task = await accepted();
    let calls = 0;
    const result = await task.run(async (ctx) => {
      bench.bus.away = true;
      const paying = ctx.effect({ intent: "charge" }, () => (calls += 1));
      await expect(paying).rejects.toMatchObject({ code: "server-unreachable" });
      await ctx.error(new TypeError("a fact"), { operation: "other" });
      bench.bus.reconnect();
      return { claim: "fail" };
    });
    expect(calls).toBe(0);
    expect(result.stored).toBe(true);
    expect(bench.payloads("t", "effect")).toEqual([]);
    expect(bench.payloads("t", "error").map(({ operation }) => operation)).toEqual(["charge", "other"]);
  });

  it("S29 does not run when the dispatch gets no answer, and says so once it is found stored", async () => {
    const task = await accepted();
    let calls = 0;
    const result = await task.run(async (ctx) => {
      bench.bus.fate = (subject) => (subject.endsWith(".effect") ? "unanswered" : "stored");
      const paying = ctx.effect({ intent: "charge" }, () => (calls += 1));
      await expect(paying).rejects.toMatchObject({ code: "publish-unconfirmed" });
      bench.bus.fate = () => "stored";
      return { claim: "fail" };
    });
    expect(calls).toBe(0);
    expect(result.stored).toBe(true);
    expect(bench.payloads("t", "effect").map(({ phase }) => phase)).toEqual(["dispatched", "not-run"]);
    expect(result.report.effects).toMatchObject([{ phase: "not-run" }]);
  });

  it("D9 does not let an effect of an earlier epoch happen again", async () => {
    await bench.orchestrator.delegate("t", { intents: [charge] });
    bench.bus.add("candor.key.agent.run-1.key-1.claim-1", Uint8Array.of(0x80));
    const second = await bench.orchestrator.delegate("t", { intents: [charge], epoch: 2 });
    const task = await bench.accept(second.token);
    let calls = 0;
    const result = await task.run((ctx) => ctx.effect({ intent: "charge" }, () => (calls += 1)));
    expect(calls).toBe(0);
    expect(isCandorError(result.error, "intent-key-in-doubt")).toBe(true);
  });

  it("F7 gives a later epoch what the first returned", async () => {
    const task = await accepted();
    await task.run((ctx) => ctx.effect({ intent: "charge" }, () => ({ id: 7 })));
    await task.close();
    const second = await bench.orchestrator.delegate("t", {
      intents: [charge],
      epoch: 2,
      predecessor: { actor: "agent", epoch: 1 },
    });
    const later = await bench.accept(second.token);
    await later.run(async (ctx) => {
      expect(await ctx.effect({ intent: "charge" }, () => ({ id: 8 }))).toEqual({ id: 7 });
      return pass;
    });
    expect(bench.payloads("t", "effect", 2)).toEqual([]);
  });
});

describe("R3 R6 R7 recall", () => {
  it("aborts at once, is acknowledged by itself, and refuses what is new", async () => {
    const task = await accepted();
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
    const task = await accepted();
    let calls = 0;
    const running = task.run((ctx) =>
      ctx.attempt("call", { maxAttempts: 9, delayMs: 60_000 }, () => {
        calls += 1;
        throw Object.assign(new TypeError("busy"), { status: 429 });
      }),
    );
    await until(() => bench.payloads("t", "error").length === 1);
    await bench.orchestrator.recall("t");
    expect(await running).toMatchObject({ finishReason: "recalled" });
    expect(calls).toBe(1);
  });

  it("S10 S11 lists an effect under way and records its outcome afterwards", async () => {
    const task = await accepted();
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
    const task = await accepted();
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
    const task = await accepted();
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
    const task = await accepted();
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
    const task = await accepted();
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
    const task = await accepted();
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
    const task = await accepted();
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
});

describe("R11 accept()", () => {
  it("binds a task key by one signed event and states its scope", async () => {
    const task = await accepted();
    const [accept] = bench.payloads("t", "accept");
    expect(accept).toMatchObject({
      mode: "enforce",
      scope: { dimensions: { effects: "enforced", children: "unseen" } },
    });
    expect(hex(accept?.delegation ?? new Uint8Array())).toHaveLength(64);
    expect(task.resumed).toBe(false);
  });

  it("opens the brief's prose", async () => {
    const task = await accepted({ instructions: "pay the bill" });
    expect(task.brief.instructions).toBe("pay the bill");
  });

  it("S15 lets one of two processes win", async () => {
    const { token } = await bench.orchestrator.delegate("t");
    const elsewhere = `${bench.spoolDir}/elsewhere`;
    const both = await Promise.allSettled([bench.accept(token), bench.accept(token, { spoolDir: elsewhere })]);
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    const lost = both.find((result) => result.status === "rejected");
    expect(isCandorError(lost?.reason, "already-accepted", "spool-lost")).toBe(true);
    expect(bench.events("t").map(({ kind }) => kind)).toEqual(["accept"]);
  });

  it("asks for a new delegation when its spool is lost", async () => {
    const { token } = await bench.orchestrator.delegate("t");
    await (await bench.accept(token)).close();
    await expect(bench.accept(token, { spoolDir: `${bench.spoolDir}/new` })).rejects.toMatchObject({
      code: "spool-lost",
    });
    const again = await bench.orchestrator.delegate("t", { epoch: 2 });
    await bench.accept(again.token, { spoolDir: `${bench.spoolDir}/new` });
    expect(bench.events("t", 2).map(({ kind }) => kind)).toEqual(["accept"]);
  });

  it("goes on with its spool: results stay, failures of before are recovered by the repetition", async () => {
    const { token } = await bench.orchestrator.delegate("t", { intents: [charge], keyTasks: ["read"] });
    const first = await bench.accept(token);
    let paid = 0;
    const work = (broken: boolean) => async (ctx: TaskContext) => {
      const receipt = await ctx.effect({ intent: "charge" }, () => ({ paid: (paid += 1) }));
      await ctx.attempt("read", { covers: "read", maxAttempts: 3, delayMs: broken ? 60_000 : 0 }, () => {
        if (broken) throw Object.assign(new TypeError("busy"), { status: 503 });
      });
      return { claim: "pass", summary: JSON.stringify(receipt) };
    };
    void first.run(work(true));
    await until(() => bench.payloads("t", "error").length === 1);
    first.abandon();
    const second = await bench.accept(token);
    expect(second.resumed).toBe(true);
    const result = await second.run(work(false));
    expect(paid).toBe(1);
    expect(result).toMatchObject({ claim: "pass", finishReason: "completed" });
    expect(result.report.receipts?.errorLog.errors).toMatchObject([{ recovered: true }]);
    expect(bench.payloads("t", "retry")).toMatchObject([{ operation: "read", attempt: 2, outcome: "ok" }]);
    expect(bench.payloads("t", "accept")).toHaveLength(1);
  });

  it("leaves an effect that was under way in doubt, and does not run it again", async () => {
    const { token } = await bench.orchestrator.delegate("t", { intents: [charge] });
    const first = await bench.accept(token);
    void first.run((ctx) => ctx.effect({ intent: "charge" }, () => new Promise(() => undefined)));
    await until(() => bench.payloads("t", "effect").length === 1);
    await new Promise(setImmediate);
    first.abandon();
    const second = await bench.accept(token);
    let calls = 0;
    const result = await second.run((ctx) => ctx.effect({ intent: "charge" }, () => (calls += 1)));
    expect(calls).toBe(0);
    expect(isCandorError(result.error, "intent-key-in-doubt")).toBe(true);
    expect(bench.payloads("t", "effect").map(({ phase }) => phase)).toEqual(["dispatched", "in-doubt"]);
  });

  it("finds a log that was rolled back, and a spool that is an old copy", async () => {
    const { token } = await bench.orchestrator.delegate("t");
    const first = await bench.accept(token);
    first.abandon();
    const accept = bench.bus.messages.pop();
    await expect(bench.accept(token)).rejects.toMatchObject({ code: "log-rolled-back" });
    if (accept !== undefined) bench.bus.messages.push(accept);
    const second = await bench.accept(token);
    await second.run(() => ({ claim: "unsure" }));
    await second.close();
    await expect(bench.accept(token)).rejects.toMatchObject({ code: "task-over" });
  });

  it("refuses a delegation that is somebody else's, of another operator, or signed by another fleet", async () => {
    const { token } = await bench.orchestrator.delegate("t");
    const other = new HandOrchestrator(
      (subject, data) => bench.bus.add(subject, data),
      "run-1",
      bench.orchestrator.agent,
    );
    const forged = await other.delegate("u");
    await expect(bench.accept(token, { as: createSigner(createSeed()) })).rejects.toMatchObject({
      code: "no-delegation",
    });
    await expect(bench.accept(token, { operator: other.operator })).rejects.toMatchObject({ code: "untrusted-key" });
    await expect(bench.accept(forged.token)).rejects.toMatchObject({ code: "bad-signature" });
    await expect(bench.accept("candor1.x")).rejects.toMatchObject({ code: "malformed" });
  });

  it("does not start on a delegation that the guard rejected", async () => {
    const intent = await bench.orchestrator.delegate("t");
    await bench.orchestrator.judge("t", intent, false);
    await expect(bench.accept(intent.token)).rejects.toMatchObject({ code: "intent-rejected" });
  });
});
