import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { SubagentTask } from "./task.js";
import { charge, pass, TestBench } from "./testing/test-bench.js";

let bench: TestBench;
beforeEach(async () => {
  bench = new TestBench();
  await bench.orchestrator.openRun();
});
afterEach(() => bench.end());

const seqs = (): number[] => bench.events("t").map(({ seq }) => seq);
const upTo = (last: number): number[] => Array.from({ length: last }, (_, i) => i + 1);

/** Takes everything behind a sequence out of the log, as a machine that loses its last writes does. */
function rollBack(sequence: number): void {
  bench.bus.messages.splice(sequence);
}

/** Runs three errors and an effect, and leaves the task open. */
async function work(task: SubagentTask, between: () => Promise<void> | void = () => undefined): Promise<void> {
  await task.run(async (ctx) => {
    for (const text of ["a", "b", "c"]) await ctx.error(new TypeError(text), { recovered: true });
    await ctx.effect({ intent: "charge" }, () => 1);
    await task.flush();
    await between();
    await ctx.error(new TypeError("d"), { recovered: true });
    return pass;
  });
  await task.flush();
}

describe("S26 B9 events that the log confirmed and lost", () => {
  it.each([0, 1, 2, 3, 4])("are sent again after a reconnect, in order: %i of them left", async (left) => {
    const task = await bench.accepted();
    const accepted = bench.bus.messages.length;
    await work(task, () => {
      rollBack(accepted + left);
      // Others write meanwhile, so that sequences are used again.
      for (let i = 0; i < 20; i += 1) bench.bus.add("candor.log.0.other.t.agent.x.error", new Uint8Array());
      bench.bus.reconnect();
    });
    expect(seqs()).toEqual(upTo(8));
  });

  it("are sent again although events of the same kind were stored before the comparison", async () => {
    const task = await bench.accepted();
    const accepted = bench.bus.messages.length;
    await task.run(async (ctx) => {
      for (const text of ["a", "b", "c"]) await ctx.error(new TypeError(text), { recovered: true });
      await task.flush();
      rollBack(accepted);
      for (let i = 0; i < 20; i += 1) bench.bus.add("candor.log.0.other.t.agent.x.error", new Uint8Array());
      const look = bench.bus.last.bind(bench.bus);
      const stored = new Promise((resolve) => setTimeout(resolve, 20));
      bench.bus.last = async (...query) => {
        await stored;
        return look(...query);
      };
      bench.bus.reconnect();
      await ctx.error(new TypeError("d"), { recovered: true });
      await stored;
      return pass;
    });
    await task.flush();
    expect(seqs()).toEqual(upTo(6));
  });

  it("are sent again when the spool is opened, the report and all", async () => {
    const intent = await bench.orchestrator.delegate("t", { intents: [charge] });
    const first = await bench.accept(intent.token);
    const accepted = bench.bus.messages.length;
    await work(first);
    await first.close();
    rollBack(accepted);
    await expect(bench.accept(intent.token)).rejects.toMatchObject({ code: "task-over" });
    expect(seqs()).toEqual(upTo(8));
    expect(bench.bus.stored("candor.key.agent.run-1.key-1.done")).toHaveLength(1);
  });

  it("twice, with a crash in between", async () => {
    const intent = await bench.orchestrator.delegate("t", { intents: [charge] });
    const first = await bench.accept(intent.token);
    const accepted = bench.bus.messages.length;
    await work(first);
    first.abandon();
    for (const left of [3, 1]) {
      rollBack(accepted + left);
      let stored = 0;
      bench.bus.fate = (subject) => (subject.startsWith("candor.in.agent") && (stored += 1) > 1 ? "gone" : "stored");
      await bench.accept(intent.token).catch(() => undefined);
      bench.bus.fate = () => "stored";
    }
    await expect(bench.accept(intent.token)).rejects.toMatchObject({ code: "task-over" });
    expect(seqs()).toEqual(upTo(8));
  });

  it("are not sent twice where nothing was lost", async () => {
    const intent = await bench.orchestrator.delegate("t", { intents: [charge] });
    const task = await bench.accept(intent.token);
    await work(task, () => {
      bench.bus.reconnect();
    });
    await task.close();
    await expect(bench.accept(intent.token)).rejects.toMatchObject({ code: "task-over" });
    expect(bench.bus.stored("candor.log.*.*.t.agent.agent.*")).toHaveLength(8);
  });

  it("a log without the acceptance can't be mended: lane and sequence are named", async () => {
    const intent = await bench.orchestrator.delegate("t");
    const first = await bench.accept(intent.token);
    const sequence = bench.bus.messages.length;
    first.abandon();
    rollBack(sequence - 1);
    await expect(bench.accept(intent.token)).rejects.toMatchObject({
      code: "log-rolled-back",
      details: { lane: bench.orchestrator.lane, sequence },
    });
  });
});
