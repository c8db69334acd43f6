import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { encodeCanonical } from "@candor/contract";
import { createSeed, createSigner, issueCertificate } from "@candor/ledger";
import { encodeKeyRecord, type KeyOutcome } from "./key-record.js";
import type { TaskContext } from "./context.js";
import { charge, httpError, TestBench } from "./testing/test-bench.js";

let bench: TestBench;
beforeEach(async () => {
  bench = new TestBench();
  await bench.orchestrator.openRun();
});
afterEach(() => bench.end());

const predecessor = { actor: "agent", epoch: 1 };
const subject = (actor: string, step: string): string => `candor.key.${actor}.run-1.key-1.${step}`;

/** Accepts the next epoch and asks for the effect; gives how often it ran, and the code of a refusal. */
async function nextEpoch(before = predecessor, result: unknown = 1): Promise<{ calls: number; value: unknown }> {
  const { token } = await bench.orchestrator.delegate("t", { intents: [charge], epoch: 2, predecessor: before });
  const task = await bench.accept(token);
  let calls = 0;
  let value: unknown;
  await task.run(async (ctx) => {
    value = await ctx
      .effect({ intent: "charge" }, () => {
        calls += 1;
        return result;
      })
      .catch((error: unknown) => (error as { code: string }).code);
    return { claim: "unsure" };
  });
  return { calls, value };
}

async function firstEpoch(work: (ctx: TaskContext) => unknown): Promise<void> {
  const task = await bench.accepted();
  await task.run(work);
  await task.close();
}

describe("F7 what an earlier epoch left under a key where nothing happened", () => {
  it("does not stand in the way: an effect that was turned away", async () => {
    await firstEpoch((ctx) => ctx.effect({ intent: "charge" }, () => Promise.reject(httpError(422))));
    expect(bench.payloads("t", "effect").at(-1)).toMatchObject({ phase: "failed" });
    expect(await nextEpoch()).toEqual({ calls: 1, value: 1 });
  });

  it("does not stand in the way: a dispatch that the fence refused", async () => {
    const task = await bench.accepted();
    let recalled: Promise<unknown> = Promise.resolve();
    bench.bus.fate = (published) => {
      if (published.endsWith(".claim-1")) recalled = bench.orchestrator.recall("t");
      return "stored";
    };
    await task.run((ctx) => ctx.effect({ intent: "charge" }, () => 1));
    await recalled;
    await task.close();
    const phases = bench.payloads("t", "effect").map(({ phase }) => phase);
    expect([[], ["dispatched", "not-run"]]).toContainEqual(phases);
    expect(await nextEpoch()).toEqual({ calls: 1, value: 1 });
  });

  it("stands in the way if it may have happened", async () => {
    await firstEpoch((ctx) => ctx.effect({ intent: "charge" }, () => Promise.reject(httpError(500))));
    expect(await nextEpoch()).toEqual({ calls: 0, value: "intent-key-in-doubt" });
  });

  it("stands in the way if another process holds the claim, whose effect may have happened", async () => {
    bench.bus.add(subject("agent", "claim-1"), Uint8Array.of(0x80));
    await firstEpoch((ctx) => ctx.effect({ intent: "charge" }, () => 1));
    expect(await nextEpoch()).toEqual({ calls: 0, value: "intent-key-in-doubt" });
  });

  it("stands in the way if it succeeded after it had been turned away", async () => {
    await firstEpoch(async (ctx) => {
      await ctx.effect({ intent: "charge" }, () => Promise.reject(httpError(422))).catch(() => undefined);
      return ctx.effect({ intent: "charge" }, () => "first");
    });
    expect(await nextEpoch()).toEqual({ calls: 0, value: "first" });
  });
});

describe("F7 a result that somebody left under a key", () => {
  const done: KeyOutcome = { type: "done", dispatch: 2, identifiers: { id: "p-1" } };
  const stranger = createSigner(createSeed());

  it.each<[string, () => Uint8Array]>([
    ["garbage", () => Uint8Array.of(0xc1, 0xff)],
    ["an unsigned record", () => encodeCanonical({ version: 1, epoch: 1, dispatch: 2, identifiers: { id: "p-1" } })],
    [
      "a record under a key that the operator does not know",
      () =>
        encodeKeyRecord("key-1", { run: "run-1", task: "t", epoch: 1, actor: "first" }, done, {
          taskKey: stranger,
          deployment: stranger,
          certificate: issueCertificate(stranger, { role: "agent", name: "first", key: stranger.publicKey }),
        }),
    ],
  ])("is not returned, and accept() goes on: %s", async (_, record) => {
    await bench.orchestrator.delegate("t", { intents: [charge] });
    bench.bus.add(subject("first", "claim-1"), Uint8Array.of(0xc1));
    bench.bus.add(subject("first", "done"), record());
    expect(await nextEpoch({ actor: "first", epoch: 1 })).toEqual({ calls: 0, value: "intent-key-in-doubt" });
  });

  it("is not void on an unproven word", async () => {
    await bench.orchestrator.delegate("t", { intents: [charge] });
    bench.bus.add(subject("first", "claim-1"), Uint8Array.of(0x80));
    bench.bus.add(subject("first", "void-1"), Uint8Array.of(0x80));
    expect(await nextEpoch({ actor: "first", epoch: 1 })).toEqual({ calls: 0, value: "intent-key-in-doubt" });
  });
});
