import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { memberKey, type DoubtPolicy, type Payload } from "@candor/contract";
import type { TaskContext } from "./context.js";
import type { DoubtAnswer, DoubtProbe } from "./doubt-probe.js";
import { memberDigest } from "./member.js";
import { httpError, pass, TestBench } from "./testing/test-bench.js";

let bench: TestBench;
beforeEach(async () => {
  bench = new TestBench();
  await bench.orchestrator.openRun();
});
afterEach(() => bench.end());

const timeOut = new DOMException("late", "TimeoutError");
const declared = (inDoubt: DoubtPolicy): Payload<"delegate">["intents"] => [
  { intent: "charge", key: "key-1", target: "payments", inDoubt },
];
const told = (epoch = 1) =>
  bench.payloads("t", "effect", epoch).map(({ phase, dispatch, epoch: of }) => [phase, dispatch, of]);

/** Asks twice for an effect whose first call times out; gives what the second returned, or the code it was refused with. */
async function askTwice(ctx: TaskContext, probe?: DoubtProbe): Promise<{ value: unknown; keys: string[] }> {
  const keys: string[] = [];
  const ask = (): Promise<unknown> =>
    ctx.effect({ intent: "charge", arguments: { amount: 1 }, ...(probe === undefined ? {} : { probe }) }, (effect) => {
      keys.push(effect.key);
      if (keys.length === 1) throw timeOut;
      return { id: keys.length };
    });
  await ask().catch(() => undefined);
  const value = await ask().catch((error: unknown) => (error as { code: string }).code);
  return { value, keys };
}

describe("F7 S19 an effect that timed out is in doubt, and its intent declares", () => {
  it("reissue: the same key goes out once more, and both dispatches came to what it came to", async () => {
    const task = await bench.accepted({ intents: declared("reissue") });
    const result = await task.run(async (ctx) => {
      expect(await askTwice(ctx)).toEqual({ value: { id: 2 }, keys: ["key-1", "key-1"] });
      return pass;
    });
    expect(told()).toEqual([
      ["dispatched", undefined, undefined],
      ["in-doubt", 2, undefined],
      ["dispatched", undefined, undefined],
      ["committed", 5, undefined],
      ["committed", 2, undefined],
    ]);
    expect(result.report.effects.map(({ phase }) => phase)).toEqual(["committed", "committed"]);
  });

  it("halt: nothing more is done", async () => {
    const task = await bench.accepted({ intents: declared("halt") });
    const result = await task.run(async (ctx) => {
      expect(await askTwice(ctx)).toEqual({ value: "intent-key-in-doubt", keys: ["key-1"] });
      return { claim: "fail" };
    });
    expect(result.report.effects.map(({ phase }) => phase)).toEqual(["in-doubt"]);
  });

  it.each<[string, DoubtAnswer | Error | undefined, unknown, number, string[]]>([
    ["found it", { outcome: "committed", result: { id: 9 } }, { id: 9 }, 1, ["dispatched", "in-doubt", "committed"]],
    ["found nothing", { outcome: "absent" }, { id: 2 }, 2, ["dispatched", "in-doubt", "not-run", "dispatched", "committed"]], // prettier-ignore
    ["can't tell", { outcome: "inconclusive" }, "intent-key-in-doubt", 1, ["dispatched", "in-doubt"]],
    ["fails itself", new TypeError("away"), "intent-key-in-doubt", 1, ["dispatched", "in-doubt"]],
    ["is not there", undefined, "intent-key-in-doubt", 1, ["dispatched", "in-doubt"]],
    ["answers with a word", "absent" as never, "intent-key-in-doubt", 1, ["dispatched", "in-doubt"]],
    ["answers something else", { outcome: "not-found" } as never, "intent-key-in-doubt", 1, ["dispatched", "in-doubt"]],
    ["answers nothing", null as never, "intent-key-in-doubt", 1, ["dispatched", "in-doubt"]],
    ["names too much", { outcome: "committed", result: { id: 9 }, identifiers: { ["n".repeat(200)]: "x".repeat(900), none: "" } }, { id: 9 }, 1, ["dispatched", "in-doubt", "committed"]], // prettier-ignore
  ])("probe: a look-up that %s", async (_, answer, value, calls, phases) => {
    const task = await bench.accepted({ intents: declared("probe") });
    const asked: string[] = [];
    const probe: DoubtProbe = ({ key }) => {
      asked.push(key);
      if (answer instanceof Error) throw answer;
      return answer as DoubtAnswer;
    };
    await task.run(async (ctx) => {
      const seen = await askTwice(ctx, answer === undefined ? undefined : probe);
      expect([seen.value, seen.keys.length]).toEqual([value, calls]);
      return { claim: "unsure" };
    });
    expect(asked).toEqual(answer === undefined ? [] : ["key-1"]);
    expect(told().map(([phase]) => phase)).toEqual(phases);
  });
});

describe("F7 a key that an earlier epoch left in doubt", () => {
  /** Epoch 1 claims the key for `amount: 1` and dies; epoch 2 asks for it. */
  async function second(inDoubt: DoubtPolicy, probe?: DoubtProbe, amount = 1): Promise<unknown> {
    const first = await bench.accepted({ intents: declared(inDoubt) });
    let dispatched = (): void => undefined;
    const stored = new Promise<void>((resolve) => (dispatched = resolve));
    void first
      .run((ctx) =>
        ctx.effect({ intent: "charge", arguments: { amount: 1 } }, () => {
          dispatched();
          return new Promise<void>(() => undefined);
        }),
      )
      .catch(() => undefined);
    await stored;
    first.abandon();
    const again = await bench.orchestrator.delegate("t", {
      intents: declared(inDoubt),
      epoch: 2,
      predecessor: { actor: "agent", epoch: 1 },
    });
    const task = await bench.accept(again.token);
    let value: unknown;
    await task.run(async (ctx) => {
      const options = { intent: "charge", arguments: { amount }, ...(probe === undefined ? {} : { probe }) };
      const ask = (): Promise<unknown> => ctx.effect(options, ({ key }) => ({ id: key }));
      value = await ask().catch((error: unknown) => (error as { code: string }).code);
      expect(await ask().catch((error: unknown) => (error as { code: string }).code)).toEqual(value);
      return { claim: "unsure" };
    });
    return value;
  }

  it("reissue: is dispatched under the same key, and the earlier epoch's effect is cleared up by it", async () => {
    expect(await second("reissue")).toEqual({ id: "key-1" });
    expect(told(2)).toEqual([
      ["dispatched", undefined, undefined],
      ["committed", 2, undefined],
      ["committed", undefined, 1],
    ]);
    expect(bench.bus.stored("candor.key.agent.run-1.key-1.done")).toHaveLength(1);
  });

  it("reissue: is refused for other arguments than the earlier epoch claimed it with, and the log says so", async () => {
    expect(await second("reissue", undefined, 2)).toBe("intent-key-reuse");
    expect(told(2).map(([phase]) => phase)).toEqual(["not-run", "not-run"]);
    expect(bench.payloads("t", "effect", 2)[0]?.arguments).toBeInstanceOf(Uint8Array);
  });

  it("probe: is done without a dispatch where the look-up finds it", async () => {
    const found: DoubtProbe = () => ({ outcome: "committed", result: { id: "theirs" }, identifiers: { payment: "p" } });
    expect(await second("probe", found)).toEqual({ id: "theirs" });
    expect(told(2)).toEqual([["committed", undefined, 1]]);
    expect(bench.bus.stored("candor.key.agent.run-1.key-1.done")).toHaveLength(1);
  });

  it("probe: is done now where the look-up finds nothing", async () => {
    expect(await second("probe", () => ({ outcome: "absent" }))).toEqual({ id: "key-1" });
    expect(told(2)).toEqual([
      ["not-run", undefined, 1],
      ["dispatched", undefined, undefined],
      ["committed", 3, undefined],
    ]);
  });

  it("halt: is left, and the guard is told once", async () => {
    expect(await second("halt")).toBe("intent-key-in-doubt");
    expect(told(2)).toEqual([["in-doubt", undefined, 1]]);
  });
});

describe("F7 S20 a key family, for a fan-out that is decided at run time", () => {
  const family: Payload<"delegate">["intents"] = [
    { intent: "mail", key: "family-1", target: "smtp", discriminator: "recipient" },
  ];
  const send = (ctx: TaskContext, recipient: unknown, text: string): Promise<string> =>
    ctx.effect({ intent: "mail", arguments: { recipient, text } }, ({ key }) => key);

  it("has one key for each recipient, whatever else the arguments say, and none of the recipients in the log", async () => {
    const task = await bench.accepted({ intents: family });
    const keys: string[] = [];
    await task.run(async (ctx) => {
      for (const recipient of ["ann@example.org", "bob@example.org", 7]) keys.push(await send(ctx, recipient, "hello"));
      expect(await send(ctx, "bob@example.org", "hello")).toBe(keys[1]);
      await expect(send(ctx, "ann@example.org", "reworded")).rejects.toMatchObject({ code: "intent-key-reuse" });
      await expect(send(ctx, "", "hello")).rejects.toMatchObject({ path: "arguments.recipient" });
      return { claim: "unsure" };
    });
    expect(new Set(keys).size).toBe(3);
    const dispatched = bench.payloads("t", "effect").filter(({ phase }) => phase === "dispatched");
    expect(dispatched.map(({ key, member }) => key === memberKey("family-1", member ?? new Uint8Array()))).toEqual([
      true,
      true,
      true,
    ]);
    expect(bench.bus.messages.some(({ data }) => Buffer.from(data).includes("ann@"))).toBe(false);
  });

  it("gives a later epoch what the first returned for that recipient, and sends to the others", async () => {
    const first = await bench.accepted({ intents: family });
    await first.run(async (ctx) => {
      await send(ctx, "ann@example.org", "hello");
      return pass;
    });
    await first.close();
    const again = await bench.orchestrator.delegate("t", {
      intents: family,
      epoch: 2,
      predecessor: { actor: "agent", epoch: 1 },
    });
    const task = await bench.accept(again.token);
    await task.run(async (ctx) => {
      await send(ctx, "ann@example.org", "hello");
      await send(ctx, "bob@example.org", "hello");
      return pass;
    });
    expect(told(2).map(([phase]) => phase)).toEqual(["dispatched", "committed"]);
  });

  it("tells the failure of one recipient as its own, which the next one's success does not recover", async () => {
    const task = await bench.accepted({ intents: family });
    const result = await task.run(async (ctx) => {
      const sending = ctx.effect({ intent: "mail", arguments: { recipient: "ann@example.org" } }, () =>
        Promise.reject(httpError(429)),
      );
      await sending.catch(() => undefined);
      await send(ctx, "bob@example.org", "hello");
      return pass;
    });
    expect(result.report.receipts?.errorLog.errors.map(({ recovered }) => recovered)).toEqual([false]);
    expect(result.report.receipts?.retries.entries).toEqual([]);
  });

  it("tells members apart by their value and by the run's key alone", () => {
    const digest = (value: unknown, key = 1): string =>
      Buffer.from(memberDigest("f", "to", { to: value, text: "x" }, new Uint8Array(32).fill(key))).toString("hex");
    expect(digest("a")).toBe(digest("a"));
    expect(new Set([digest("a"), digest("b"), digest("a", 2), digest(1), digest("1")]).size).toBe(5);
  });
});

describe("F7 a minted key that the effect's code never read", () => {
  it("is said to be unread; one that was read is not", async () => {
    const task = await bench.accepted({
      intents: ["read", "unread"].map((intent) => ({ intent, key: intent, target: "x" })),
    });
    await task.run(async (ctx) => {
      await ctx.effect({ intent: "read" }, ({ key }) => key);
      await ctx.effect({ intent: "unread" }, () => 1);
      return pass;
    });
    const outcomes = bench.payloads("t", "effect").filter(({ phase }) => phase === "committed");
    expect(outcomes.map(({ key, keyUnread }) => [key, keyUnread])).toEqual([
      ["read", undefined],
      ["unread", true],
    ]);
  });
});
