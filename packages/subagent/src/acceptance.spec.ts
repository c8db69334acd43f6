import { cpSync, readdirSync, rmSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hex, isCandorError } from "@candor/contract";
import { createSeed, createSigner } from "@candor/ledger";
import type { TaskContext } from "./context.js";
import { HandOrchestrator } from "./testing/hand-orchestrator.js";
import { TestBench, charge, httpError, pass, until } from "./testing/test-bench.js";

let bench: TestBench;
beforeEach(async () => {
  bench = new TestBench();
  await bench.orchestrator.openRun();
});
afterEach(() => bench.end());

describe("R11 accept()", () => {
  it("binds a task key by one signed event and states its scope", async () => {
    const task = await bench.accepted();
    const [accept] = bench.payloads("t", "accept");
    expect(accept).toMatchObject({
      mode: "enforce",
      scope: { dimensions: { effects: "enforced", children: "unseen" } },
    });
    expect(hex(accept?.delegation ?? new Uint8Array())).toHaveLength(64);
    expect(task.resumed).toBe(false);
  });

  it("opens the brief's prose", async () => {
    const task = await bench.accepted({ instructions: "pay the bill" });
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
        if (broken) throw httpError(503);
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

  it("takes the fleet's word from the token where the run's opening is not the last message any more", async () => {
    const { orchestrator } = bench;
    await orchestrator.addKey();
    const bare = await orchestrator.delegate("t");
    await expect(bench.accept(bare.token)).rejects.toMatchObject({ code: "untrusted-key" });
    await bench.accept(orchestrator.tokenOf(bare, { fleet: true }));
  });

  it("is over with its run", async () => {
    const { token } = await bench.orchestrator.delegate("t");
    await bench.orchestrator.closeRun();
    await expect(bench.accept(token)).rejects.toMatchObject({ code: "task-over" });
  });

  it("B9 refuses a log that holds another message in the delegation's place", async () => {
    const intent = await bench.orchestrator.delegate("t");
    const other = await bench.orchestrator.delegate("u");
    const messages = bench.bus.messages as { data: Uint8Array }[];
    const [mine, theirs] = [messages[intent.sequence - 1], messages[other.sequence - 1]];
    if (mine !== undefined && theirs !== undefined) mine.data = theirs.data;
    await expect(bench.accept(intent.token)).rejects.toMatchObject({ code: "log-altered" });
  });

  it("B9 stops when the log loses what it had, in the middle of the work", async () => {
    const task = await bench.accepted();
    const running = task.run((ctx) => new Promise((_, reject) => {
      ctx.signal.addEventListener("abort", () => { reject(ctx.signal.reason as Error); });
    })); // prettier-ignore
    bench.bus.messages.pop();
    bench.bus.reconnect();
    await expect(running).rejects.toMatchObject({ code: "log-rolled-back" });
  });

  it("R11 refuses a spool that is an old copy", async () => {
    const { token } = await bench.orchestrator.delegate("t");
    const first = await bench.accept(token);
    await first.flush();
    const copy = `${bench.spoolDir}-copy`;
    cpSync(bench.spoolDir, copy, { recursive: true });
    await first.run(async (ctx) => {
      await ctx.error(new TypeError("x"), { recovered: true });
      return pass;
    });
    first.abandon();
    await expect(bench.accept(token, { spoolDir: copy })).rejects.toMatchObject({ code: "spool-locked" });
    for (const folder of readdirSync(copy)) truncateSync(join(copy, folder, "lock.1"), 0);
    await expect(bench.accept(token, { spoolDir: copy })).rejects.toMatchObject({ code: "spool-lost" });
    rmSync(copy, { recursive: true });
  });
});
