import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readNext, type Bus } from "@candor/bus";
import { decodeBody, decodeFrame, streams } from "@candor/contract";
import type { ServerHandle } from "@candor/bus/server";
import { faultyWire } from "../kit/faulty-wire.js";
import { startSubagentStage, type SubagentStage } from "../kit/subagent-stage.js";

let stage: SubagentStage;
let operator: Bus;
let server: ServerHandle;
const limits = { dispatchMs: 500, flushMs: 3_000, verdictMs: 500 };

beforeEach(async () => {
  stage = await startSubagentStage();
  operator = await stage.world.connect("operator", "operator");
  server = stage.world.nodes[0] as ServerHandle;
});
afterEach(() => stage.close());

/** Numbers of a task's events in the log, each once, in order. */
async function numbersOf(task: string): Promise<number[]> {
  const { id: run, lane } = stage.run;
  const found = new Set<number>();
  for (let from = 1; ;) {
    const message = await readNext(operator, streams.log, `candor.log.${lane}.${run}.${task}.agent.payer.*`, from);
    if (message === undefined) return [...found].sort((a, b) => a - b);
    found.add(decodeBody(decodeFrame(message.data).body).seq);
    from = message.seq + 1;
  }
}

const upTo = (last: number): number[] => Array.from({ length: last }, (_, i) => i + 1);

/** Keeps a copy of what is stored, or puts it back, while the server is down. */
function store(action: "keep" | "put back"): void {
  const [folder, copy] = [join(stage.world.dir, "server", "jetstream"), join(stage.world.dir, "older")];
  const [from, to] = action === "keep" ? [folder, copy] : [copy, folder];
  rmSync(to, { recursive: true, force: true });
  cpSync(from, to, { recursive: true });
}

describe("S26 B9 a server that loses what it confirmed", () => {
  it("gets it again: in the middle of the work, and from the next process", { timeout: 120_000 }, async () => {
    const { task: id, token } = await stage.delegate();
    const spoolDir = stage.spoolDir();
    const agent = await stage.agent({ limits, spoolDir });
    const task = await agent.accept(token);
    const lose = async (): Promise<void> => {
      await server.kill();
      store("put back");
      await server.restart();
    };
    await task.run(async (ctx) => {
      await ctx.error(new TypeError("a"), { recovered: true });
      await task.flush();
      await server.kill();
      store("keep");
      await server.restart();
      for (const text of ["b", "c"]) await ctx.error(new TypeError(text), { recovered: true });
      // Connected again; an effect would not wait for so long.
      await task.flush(20_000);
      await ctx.effect({ intent: "charge" }, () => 1);
      await task.flush(20_000);
      expect(await numbersOf(id)).toEqual(upTo(6));
      await lose();
      await ctx.error(new TypeError("d"), { recovered: true });
      await expect.poll(() => numbersOf(id), { timeout: 30_000 }).toEqual(upTo(7));
      return { claim: "pass" };
    });
    await task.flush(20_000);
    expect(await numbersOf(id)).toEqual(upTo(8));
    await agent.close();
    await lose();
    expect(await numbersOf(id)).toEqual(upTo(2));
    const next = await stage.agent({ limits, spoolDir });
    await expect(next.accept(token)).rejects.toMatchObject({ code: "task-over" });
    expect(await numbersOf(id)).toEqual(upTo(8));
  });
});

describe("Q8 a server that dies in the middle of a dispatch and stays away", () => {
  it("run(), close() and accept() end in time, with their code", { timeout: 120_000 }, async () => {
    const wire = await faultyWire(server.port);
    try {
      const first = await stage.delegate();
      const second = await stage.delegate();
      const third = await stage.delegate();
      const spoolDir = stage.spoolDir();
      const agent = await stage.agent({ servers: wire.url, limits, spoolDir });
      const [task, idle] = [await agent.accept(first.token), await agent.accept(second.token)];
      const running = task.run(async (ctx) => {
        wire.holdAnswers();
        const paying = ctx.effect({ intent: "charge" }, () => 1);
        await expect.poll(() => numbersOf(first.task)).toEqual(upTo(2));
        await server.kill();
        await paying.catch(() => undefined);
        return { claim: "fail" };
      });
      const begun = performance.now();
      await expect(running).rejects.toMatchObject({ code: "publish-unconfirmed" });
      await expect(agent.accept(third.token)).rejects.toMatchObject({ code: "server-unreachable" });
      await expect(agent.close()).rejects.toMatchObject({ code: "publish-unconfirmed" });
      await idle.closed;
      expect(performance.now() - begun).toBeLessThan(60_000);
      await server.restart();
      const later = await stage.agent({ limits, spoolDir });
      const again = await later.accept(first.token);
      const { report } = await again.run(() => ({ claim: "fail" }));
      expect(report.effects).toMatchObject([{ phase: "not-run" }]);
    } finally {
      await wire.close();
    }
  });
});
