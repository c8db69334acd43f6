import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isCandorError } from "@candor/contract";
import type { TaskContext } from "./context.js";
import { TestBench, charge, httpError, pass, until } from "./testing/test-bench.js";

let bench: TestBench;
beforeEach(async () => {
  bench = new TestBench();
  await bench.orchestrator.openRun();
});
afterEach(() => bench.end());

describe("F7 Q1 effect()", () => {
  it("runs after its dispatch is stored, under the minted key, and tells identifiers", async () => {
    const task = await bench.accepted();
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
    const task = await bench.accepted();
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
    const task = await bench.accepted();
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
    const task = await bench.accepted();
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
    const task = await bench.accepted();
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
    const task = await bench.accepted();
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
    const task = await bench.accepted();
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

  it("D2 D8 an effect that is asked for again after it was turned away is a retry, and its success recovers", async () => {
    const task = await bench.accepted();
    let calls = 0;
    const pay = (ctx: TaskContext) =>
      ctx.effect({ intent: "charge" }, () => {
        calls += 1;
        if (calls < 3) throw httpError(429);
      });
    const result = await task.run(async (ctx) => {
      await pay(ctx).catch(() => undefined);
      await pay(ctx).catch(() => undefined);
      await pay(ctx);
      return pass;
    });
    const { errorLog, retries } = result.report.receipts ?? {};
    expect(errorLog?.errors.map(({ recovered }) => recovered)).toEqual([true, true]);
    expect(retries?.entries.map(({ attempt, outcome }) => [attempt, outcome])).toEqual([
      [2, "failed"],
      [3, "ok"],
    ]);
  });

  it("D2 within attempt() the retries are the attempt's", async () => {
    const task = await bench.accepted();
    let calls = 0;
    const result = await task.run(async (ctx) => {
      await ctx.attempt("pay", { maxAttempts: 3, delayMs: 0 }, () =>
        ctx.effect({ intent: "charge" }, () => {
          calls += 1;
          if (calls < 3) throw httpError(429);
        }),
      );
      return pass;
    });
    const { errorLog, retries } = result.report.receipts ?? {};
    expect(errorLog?.errors.map(({ recovered, finality }) => [recovered, finality])).toEqual([
      [true, "recoverable"],
      [true, "recoverable"],
    ]);
    expect(retries?.entries.map(({ operation, attempt }) => [operation, attempt])).toEqual([
      ["pay", 2],
      ["pay", 3],
    ]);
  });

  it.each([
    ["a Map", new Map([["amount", 1]])],
    ["a Set in a list", [new Set([1])]],
    ["an Error", { amount: new TypeError("1") }],
    ["a URL", { to: new URL("http://127.0.0.1/") }],
    ["a function", { amount: () => 1 }],
  ])("F7 refuses arguments of which a digest would say nothing: %s", async (_, given) => {
    const task = await bench.accepted();
    await task.run(async (ctx) => {
      const effect = ctx.effect({ intent: "charge", arguments: given }, () => expect.unreachable("it ran"));
      await expect(effect).rejects.toMatchObject({ code: "bad-argument", path: "arguments" });
      return { claim: "fail" };
    });
  });

  it("F6 tells identifiers that do not fit the wire as far as they do", async () => {
    const task = await bench.accepted();
    await task.run(async (ctx) => {
      await ctx.effect({ intent: "charge" }, (effect) => {
        effect.identify({ "": "x", empty: "", long: "y".repeat(300), "a\nb": "z" });
      });
      return pass;
    });
    const [, committed] = bench.payloads("t", "effect");
    expect(committed?.identifiers).toEqual({ long: `${"y".repeat(255)}…`, "a b": "z" });
  });

  it("F6 an error after it lists what was committed before", async () => {
    const task = await bench.accepted();
    await task.run(async (ctx) => {
      await ctx.effect({ intent: "charge" }, (effect) => {
        effect.identify({ id: "p-1" });
      });
      throw new TypeError("later");
    });
    expect(bench.payloads("t", "error")).toMatchObject([
      { effects: [{ intent: "charge", key: "key-1", identifiers: { id: "p-1" } }] },
    ]);
  });

  it("does not run under a key whose claim somebody else holds", async () => {
    const task = await bench.accepted();
    bench.bus.add("candor.key.agent.run-1.key-1.claim-1", Uint8Array.of(0x80));
    let calls = 0;
    const result = await task.run((ctx) => ctx.effect({ intent: "charge" }, () => (calls += 1)));
    expect(calls).toBe(0);
    expect(isCandorError(result.error, "intent-key-in-doubt")).toBe(true);
    expect(bench.payloads("t", "effect").map(({ phase }) => phase)).toEqual(["dispatched", "not-run"]);
  });

  it("F7 hands what an earlier agent did on to the agent after the next", async () => {
    const { orchestrator } = bench;
    await orchestrator.delegate("t", { intents: [charge] });
    bench.bus.add("candor.key.first.run-1.key-1.claim-1", Uint8Array.of(0x80));
    const second = await orchestrator.delegate("t", {
      intents: [charge],
      epoch: 2,
      predecessor: { actor: "first", epoch: 1 },
    });
    await (await bench.accept(second.token)).close();
    expect(bench.bus.stored("candor.key.agent.run-1.key-1.claim-2")).toHaveLength(1);
  });
});

describe("F7 Q4 effect() on a fresh key", () => {
  it("waits for the server twice: for claim and dispatch together, and for outcome and result together", async () => {
    const task = await bench.accepted();
    const trips: string[][] = [];
    /** What is handed over before the client flushes, which it does in the microtask after the first: one write on the wire. */
    const writes: string[][] = [];
    let write: string[] | undefined;
    let release = (): void => undefined;
    bench.bus.hold = (subject) => {
      const word = subject.split(".").at(-1) ?? "";
      if (write === undefined) {
        writes.push((write = []));
        queueMicrotask(() => (write = undefined));
      }
      write.push(word);
      if (trips.at(-1) === undefined || trips.at(-1)?.includes("let go") === true) trips.push([]);
      trips.at(-1)?.push(word);
      return new Promise((resolve) => {
        const before = release;
        release = () => {
          before();
          resolve();
        };
      });
    };
    const running = task.run(async (ctx) => {
      await ctx.effect({ intent: "charge" }, ({ key }) => key);
      bench.bus.hold = undefined;
      return pass;
    });
    for (const count of [1, 2]) {
      await until(() => trips.at(count - 1)?.length === 2);
      trips.at(-1)?.push("let go");
      release();
    }
    expect((await running).claim).toBe("pass");
    expect(trips.map((words) => [...words].sort())).toEqual([
      ["claim-1", "effect", "let go"],
      ["done", "effect", "let go"],
    ]);
    expect(writes).toEqual([
      ["claim-1", "effect"],
      ["effect", "done"],
    ]);
  });
});
