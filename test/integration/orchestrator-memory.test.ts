import { cp, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startGuard } from "@candor/guard";
import { connectOrchestrator, type Fleet } from "@candor/orchestrator";
import { startWorld, type World } from "../kit/world.js";

let world: World;
let memoryDir: string;

beforeEach(async () => {
  world = await startWorld({ lanes: 1 });
  memoryDir = await mkdtemp(join(world.dir, "memory-"));
});
afterEach(async () => {
  await world.close();
});

function connect(options: { memoryDir?: string } = { memoryDir }): Promise<Fleet> {
  return connectOrchestrator({
    servers: world.urls,
    credentials: world.folder("orchestrator", "fleet"),
    ...options,
  });
}

/** With a guard, opens a run in which so many tasks are delegated and terminated, and waits for its verdicts. */
async function work(tasks: number, options?: { memoryDir?: string }): Promise<void> {
  const { name, signer } = world.credentials("guard", "g1");
  const guard = await startGuard({
    connection: await world.connect("guard", "g1"),
    identity: { name, signer, certificate: world.certificate("guard", "g1"), operator: world.operatorKey },
    settings: { checkpointQuietMs: 50 },
  });
  const fleet = await connect(options);
  const run = await fleet.openRun();
  for (let i = 0; i < tasks; i += 1) {
    await run.delegate({ task: `t${i}`, agent: world.certificate("agent", "payer") });
    await run.terminate(`t${i}`, { reason: "enough" });
    expect(await run.decision(`t${i}`, { timeoutMs: 10_000 })).toMatchObject({ kind: "decided" });
  }
  await guard.stop();
  await fleet.close();
}

const store = (): string => join(world.nodes[0]?.dataDir ?? "", "jetstream");
const copy = (): string => join(world.dir, "old-copy");

async function whileStopped(change: () => Promise<void>): Promise<void> {
  await world.nodes[0]?.stop();
  await change();
  await world.nodes[0]?.restart();
}

async function keepCopy(): Promise<void> {
  await whileStopped(() => cp(store(), copy(), { recursive: true }));
}

async function restoreCopy(): Promise<void> {
  await whileStopped(async () => {
    await rm(store(), { recursive: true });
    await cp(copy(), store(), { recursive: true });
  });
}

describe("B9 a log and its verdicts that were restored together from an old copy", { timeout: 120_000 }, () => {
  it("are found by an orchestrator that remembers more, and by no other", async () => {
    await work(1);
    await keepCopy();
    await work(3);
    await (await connect()).close();
    await restoreCopy();
    await expect(connect()).rejects.toMatchObject({
      code: "log-rolled-back",
      exit: 1,
      details: { lane: 0, sequence: expect.any(Number) as number },
    });
    await (await connect({})).close();
  });

  it("are found also after the log has grown past what is remembered", async () => {
    await work(1);
    await keepCopy();
    await work(2);
    await restoreCopy();
    await work(6, {});
    await expect(connect()).rejects.toMatchObject({ code: "log-rolled-back" });
  });

  it("are not suspected after a plain restart, of server or orchestrator", async () => {
    await work(1);
    await whileStopped(() => Promise.resolve());
    await work(1);
    await world.nodes[0]?.kill();
    await world.nodes[0]?.restart();
    await work(1);
    const [file = ""] = await readdir(memoryDir);
    expect(JSON.parse(await readFile(join(memoryDir, file), "utf8"))).toMatchObject({
      operator: world.operatorKey,
      verdict: { sequence: expect.any(Number) as number },
      lanes: { 0: { size: expect.any(Number) as number, subject: "candor.checkpoint.0" } },
    });
  });

  it("are found by a reader that was there all along, before it acts on anything", async () => {
    await work(1);
    await keepCopy();
    const { name, signer } = world.credentials("guard", "g1");
    const guard = await startGuard({
      connection: await world.connect("guard", "g1"),
      identity: { name, signer, certificate: world.certificate("guard", "g1"), operator: world.operatorKey },
    });
    const fleet = await connect({});
    const run = await fleet.openRun();
    const delegation = await run.delegate({ task: "t1", agent: world.certificate("agent", "payer") });
    await run.confirm(delegation, { timeoutMs: 5_000 });
    const reading = run.verdicts();
    for (let i = 0; i < 2; i += 1) await reading.next();
    await guard.stop();
    await restoreCopy();
    await expect(reading.next()).rejects.toMatchObject({ code: "log-rolled-back" });
    await expect(run.decision("t1", { timeoutMs: 20_000 })).rejects.toMatchObject({ code: "log-rolled-back" });
    await expect(run.recall("t1", { graceMs: 1, reason: "enough" })).rejects.toMatchObject({ code: "log-rolled-back" });
    await fleet.close();
  });

  it("are found by the cursor of a reader alone", async () => {
    await work(1);
    await keepCopy();
    const fleet = await connect({});
    const run = await fleet.openRun({ run: "kept" });
    await run.delegate({ task: "t1", agent: world.certificate("agent", "payer") });
    const { name, signer } = world.credentials("guard", "g1");
    const guard = await startGuard({
      connection: await world.connect("guard", "g1"),
      identity: { name, signer, certificate: world.certificate("guard", "g1"), operator: world.operatorKey },
    });
    let cursor = "";
    for await (const entry of run.verdicts()) {
      cursor = entry.cursor;
      if (entry.verdict.task === "t1") break;
    }
    await guard.stop();
    await restoreCopy();
    const reading = run.verdicts({ from: cursor });
    await expect(reading.next()).rejects.toMatchObject({ code: "log-rolled-back", details: { lane: 0 } });
    await fleet.close();
  });
});
