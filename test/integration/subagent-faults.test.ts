import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { readNext, type Bus } from "@candor/bus";
import { decodeBody, decodeFrame, decodePayload, intentSubject, storedSubject, streams } from "@candor/contract";
import type { Subagent } from "@candor/subagent";
import { faultyWire, type FaultyWire } from "../kit/faulty-wire.js";
import { startSubagentStage, type SubagentStage } from "../kit/subagent-stage.js";

let stage: SubagentStage;
let operator: Bus;
let wire: FaultyWire;
let agent: Subagent;
const limits = { dispatchMs: 1_500, flushMs: 30_000, verdictMs: 2_000 };

beforeAll(async () => {
  stage = await startSubagentStage();
  operator = await stage.world.connect("operator", "operator");
  wire = await faultyWire(stage.world.nodes[0]?.port ?? 0);
  agent = await stage.agent({ servers: wire.url, limits });
});
afterEach(() => {
  wire.release();
});
afterAll(async () => {
  await stage.close();
  await wire.close();
});

interface StoredEffect {
  readonly sequence: number;
  readonly seq: number;
  readonly phase: string;
}

/** The effect events of a task in log order. */
async function effectsOf(task: string): Promise<StoredEffect[]> {
  const { id: run, lane } = stage.run;
  const subject = storedSubject({ lane, role: "agent", actor: "payer", run, task, kind: "effect" });
  const found: StoredEffect[] = [];
  for (let from = 1; ;) {
    const message = await readNext(operator, streams.log, subject, from);
    if (message === undefined) return found;
    const event = decodeBody(decodeFrame(message.data).body);
    found.push({ sequence: message.seq, seq: event.seq, phase: decodePayload("effect", event.payload).phase });
    from = message.seq + 1;
  }
}

const distinct = (effects: readonly StoredEffect[]): string[] => [
  ...new Map(effects.map(({ seq, phase }) => [seq, phase])).values(),
];

describe("S29 Q1 a dispatch whose answer is lost", () => {
  it("is found stored, and the effect runs once", async () => {
    const { task: id, token } = await stage.delegate();
    const task = await agent.accept(token);
    let calls = 0;
    const result = await task.run(async (ctx) => {
      wire.holdAnswers();
      const paying = ctx.effect({ intent: "charge" }, () => (calls += 1));
      // Stored, and the agent does not know.
      while ((await effectsOf(id)).length === 0) await new Promise(setImmediate);
      expect(calls).toBe(0);
      wire.cut();
      await paying;
      return { claim: "pass" };
    });
    expect(calls).toBe(1);
    expect(result.stored).toBe(true);
    expect(distinct(await effectsOf(id))).toEqual(["dispatched", "committed"]);
    expect(await stage.decide(id)).toMatchObject({ action: "proceed", disclosure: "FULL_DISCLOSURE_VERIFIED" });
  });

  it("that stays out is given up: nothing runs, and the log learns it", async () => {
    const { task: id, token } = await stage.delegate();
    const task = await agent.accept(token);
    let calls = 0;
    const result = await task.run(async (ctx) => {
      wire.holdAnswers();
      const paying = ctx.effect({ intent: "charge" }, () => (calls += 1));
      await expect(paying).rejects.toMatchObject({ code: "publish-unconfirmed" });
      wire.release();
      return { claim: "fail" };
    });
    expect(calls).toBe(0);
    expect(result.report.effects).toMatchObject([{ phase: "not-run" }]);
    expect(distinct(await effectsOf(id))).toEqual(["dispatched", "not-run"]);
    expect(await stage.decide(id)).toMatchObject({ disclosure: "FULL_DISCLOSURE_VERIFIED", findings: [] });
  });
});

describe("Q1 S27 a server that is killed", () => {
  it("loses no fact and forks no chain; effects wait or are refused", { timeout: 120_000 }, async () => {
    const { token } = await stage.delegate();
    const direct = await stage.agent({ limits });
    const task = await direct.accept(token);
    const [server] = stage.world.nodes;
    let calls = 0;
    const result = await task.run(async (ctx) => {
      const noting = Array.from({ length: 200 }, (_, i) => ctx.error(new TypeError(`e${i}`), { recovered: true }));
      await server?.kill();
      await Promise.all(noting);
      const paying = ctx.effect({ intent: "charge" }, () => (calls += 1));
      await expect(paying).rejects.toMatchObject({
        code: expect.stringMatching(/^(server-unreachable|publish-unconfirmed)$/) as unknown,
      });
      await server?.restart();
      await task.flush();
      await ctx.effect({ intent: "charge" }, () => (calls += 1));
      return { claim: "pass" };
    });
    expect(calls).toBe(1);
    expect(result).toMatchObject({ stored: true, report: { receipts: { errorLog: { byKind: { error: 201 } } } } });
  });
});

describe("R2 R7 a recall that the agent does not hear", () => {
  it("reaches it by look-up after a reconnect", async () => {
    const { task: id, token } = await stage.delegate();
    const task = await agent.accept(token);
    const running = task.run(
      (ctx) =>
        new Promise((_, reject) => {
          ctx.signal.addEventListener("abort", () => {
            reject(ctx.signal.reason as Error);
          });
        }),
    );
    wire.holdAnswers();
    await stage.run.recall(id, { graceMs: 10_000, reason: "test" });
    expect(task.signal.aborted).toBe(false);
    wire.cut();
    expect(await running).toMatchObject({ finishReason: "recalled" });
    expect(await stage.decide(id)).toMatchObject({ recall: "RECALL_NO_SIDE_EFFECTS_SAFE" });
  });

  it("stops every dispatch at the server: none is stored after it", { timeout: 120_000 }, async () => {
    const direct = await stage.agent({ limits });
    const { id: run, lane } = stage.run;
    let refused = 0;
    let stored = 0;
    for (let round = 0; round < 15; round += 1) {
      const { task: id, token } = await stage.delegate();
      const task = await direct.accept(token, { mode: "observe" });
      const running = task.run(async (ctx) => {
        for (;;) {
          const paying = ctx.effect({ intent: `mail-${stored}`, target: "smtp" }, () => 1);
          await paying.then(
            () => (stored += 1),
            (error: unknown) => {
              refused += 1;
              throw error;
            },
          );
        }
      });
      await new Promise((resolve) => setTimeout(resolve, 20 * Math.random()));
      const recall = await stage.run.recall(id, { graceMs: 5_000, reason: "test" });
      await running;
      const last = await readNext(operator, streams.log, intentSubject({ lane, run, task: id, fleet: "fleet" }), 1);
      expect(last?.seq).toBeLessThan(recall.sequence);
      const late = (await effectsOf(id)).filter(
        ({ sequence, phase }) => phase === "dispatched" && sequence > recall.sequence,
      );
      expect(late).toEqual([]);
      expect((await stage.decide(id))["recall"]).not.toBe("GHOST_ACTION_DETECTED");
    }
    expect(refused).toBe(15);
    expect(stored).toBeGreaterThan(0);
  });
});
