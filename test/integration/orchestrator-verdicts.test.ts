import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Publisher, readNext } from "@candor/bus";
import {
  decodeBody,
  decodeFrame,
  encodeSigned,
  encodeVerdictBody,
  eventHash,
  guardRecordMessage,
  hex,
  storedSubject,
  streams,
  verdictSubject,
  zeroHash,
  type VerdictBody,
} from "@candor/contract";
import { startGuard, type Guard } from "@candor/guard";
import { createSeed, createSigner, issueCertificate } from "@candor/ledger";
import { connectOrchestrator, connectProber, type Fleet, type Run, type VerdictEntry } from "@candor/orchestrator";
import { startWorld, type World } from "../kit/world.js";

let world: World;
const fleets: Fleet[] = [];

async function replica(): Promise<Fleet> {
  const fleet = await connectOrchestrator({
    servers: world.urls,
    credentials: world.folder("orchestrator", "fleet"),
    intentPatienceMs: 200,
  });
  fleets.push(fleet);
  return fleet;
}

async function guardOf(lanes?: readonly number[]): Promise<Guard> {
  const { name, signer } = world.credentials("guard", "g1");
  return startGuard({
    connection: await world.connect("guard", "g1"),
    identity: { name, signer, certificate: world.certificate("guard", "g1"), operator: world.operatorKey },
    settings: { checkpointQuietMs: 100 },
    ...(lanes === undefined ? {} : { lanes }),
  });
}

beforeAll(async () => {
  world = await startWorld({ lanes: 4 });
});
afterAll(async () => {
  await Promise.all(fleets.map((fleet) => fleet.close()));
  await world.close();
});

const agent = (): Parameters<Run["delegate"]>[0]["agent"] => world.certificate("agent", "payer");

async function read(run: Run, count: number, from?: string): Promise<VerdictEntry[]> {
  const entries: VerdictEntry[] = [];
  if (count === 0) return entries;
  for await (const entry of run.verdicts(from === undefined ? {} : { from })) {
    entries.push(entry);
    if (entries.length === count) break;
  }
  return entries;
}

const nameOf = ({ verdict }: VerdictEntry): string => `${verdict.task} ${verdict.judge} ${verdict.ordinal}`;

describe("S21 an orchestrator that was away", () => {
  it("gets all it missed, once, in order, also through a kill of the server", { timeout: 120_000 }, async () => {
    const guard = await guardOf();
    const first = await replica();
    const run = await first.openRun();
    for (let i = 0; i < 10; i += 1) await run.delegate({ task: `t${i}`, agent: agent() });
    const early = await read(run, 5);
    const cursor = early.at(-1)?.cursor ?? "";
    await first.close();

    const other = await (await replica()).attach(run.id);
    const abort = new AbortController();
    const live: VerdictEntry[] = [];
    const listening = (async () => {
      for await (const entry of other.verdicts({ from: cursor, signal: abort.signal })) {
        live.push(entry);
        // 11 intents of before, then 2 of the intent and 1 of the recall judge a task.
        if (live.length === 6 + 30) abort.abort();
      }
    })();
    for (let i = 0; i < 10; i += 1) {
      if (i === 5) {
        await world.nodes[0]?.kill();
        await world.nodes[0]?.restart();
      }
      const recall = await other.recall(`t${i}`, { graceMs: 60_000, reason: "enough" });
      await other.confirm(recall, { timeoutMs: 10_000 });
      await other.confirm(await other.closeTask(`t${i}`, { state: "cancelled" }), { timeoutMs: 10_000 });
    }
    await listening;
    const again = await read(other, early.length + live.length);
    expect(again.map(nameOf)).toEqual([...early, ...live].map(nameOf));
    expect(new Set(again.map(nameOf)).size).toBe(again.length);
    await guard.stop();
  });

  it("does not act on a record that no guard of its operator signed", async () => {
    const guard = await guardOf();
    const run = await (await replica()).openRun();
    await run.delegate({ task: "t1", agent: agent() });
    const [opened] = await read(run, 2);
    const stranger = createSigner(createSeed());
    const forged: VerdictBody = {
      ...(opened as VerdictEntry).verdict,
      task: "t1",
      judge: "disclosure",
      epoch: 1,
      verdict: "FULL_DISCLOSURE_VERIFIED",
      action: "proceed",
    };
    const body = encodeVerdictBody(forged);
    const certificate = issueCertificate(stranger, { role: "guard", name: "g1", key: stranger.publicKey });
    const bytes = encodeSigned({
      body,
      certificate,
      signature: stranger.sign(guardRecordMessage("verdict", body)),
    });
    const publisher = new Publisher(await world.connect("guard", "g2"));
    const subject = verdictSubject({ lane: run.lane, run: run.id, task: "t1", judge: "disclosure" });
    expect(await publisher.publish({ subject, bytes })).toMatchObject({ type: "stored" });
    publisher.close();
    expect(await run.decision("t1", { timeoutMs: 300 })).toMatchObject({ kind: "undecided", why: "no-report" });
    await guard.stop();
  });
});

describe("Q8 a decision on a real server", () => {
  it("says why there is none, within its limit", async () => {
    const run = await (await replica()).openRun();
    expect(await run.decision("t1", { timeoutMs: 200 })).toMatchObject({ kind: "undecided", why: "not-delegated" });
    await run.delegate({ task: "t1", agent: agent() });
    const started = performance.now();
    expect(await run.decision("t1", { timeoutMs: 300 })).toMatchObject({ kind: "undecided", why: "no-guard" });
    expect(performance.now() - started).toBeLessThan(3_000);
    const guard = await guardOf();
    expect(await run.decision("t1", { timeoutMs: 2_000 })).toMatchObject({ kind: "undecided", why: "no-report" });
    await guard.stop();
  });

  it("follows a termination, and then the closing of the task", async () => {
    const guard = await guardOf();
    const run = await (await replica()).openRun();
    await run.delegate({ task: "t1", agent: agent() });
    await run.terminate("t1", { reason: "enough" });
    expect(await run.decision("t1", { timeoutMs: 5_000 })).toMatchObject({
      kind: "decided",
      action: "proceed",
      verdicts: [{ judge: "recall", verdict: "TERMINATED" }],
    });
    await run.closeTask("t1", { state: "cancelled" });
    const decision = await run.decision("t1", { timeoutMs: 5_000 });
    expect(decision.kind).toBe("decided");
    await guard.stop();
  });

  it("sees what another replica did since", async () => {
    const guard = await guardOf();
    const run = await (await replica()).openRun();
    await run.delegate({ task: "t1", agent: agent() });
    await run.closeTask("t1", { state: "rejected" });
    const mirror = await (await replica()).attach(run.id);
    expect(await mirror.decision("t1", { timeoutMs: 5_000 })).toMatchObject({ kind: "decided", action: "escalate" });
    await run.delegate({ task: "t2", agent: agent() });
    await mirror.terminate("t2", { reason: "enough" });
    expect(await run.decision("t2", { timeoutMs: 5_000 })).toMatchObject({ kind: "decided", action: "proceed" });
    await guard.stop();
  });
});

describe("D4 a prober on a real server", () => {
  it("stores one chain from two processes, and the guard takes it", async () => {
    const guard = await guardOf();
    const run = await (await replica()).openRun({ probers: [world.certificate("prober", "prober")] });
    await run.delegate({ task: "t1", agent: agent(), brief: { critical: true } });
    const options = { servers: world.urls, credentials: world.folder("prober", "prober") };
    const probers = [await connectProber(options), await connectProber(options)];
    const probe = {
      run: run.id,
      task: "t1",
      epoch: 1,
      target: { of: "task" as const },
      method: "asked the payment service",
      outcome: "confirmed" as const,
    };
    const stored = await Promise.all(
      Array.from({ length: 10 }, async (_, index) => {
        // Told apart, since two equal ones of one millisecond are one.
        return await probers[index % 2]?.publishProbe({ ...probe, method: `asked the payment service, ${index}` });
      }),
    );
    expect(stored.map((receipt) => receipt?.seq).sort((x, y) => Number(x) - Number(y))).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
    ]);
    await Promise.all(probers.map((prober) => prober.close()));

    const operator = await world.connect("operator", "operator");
    const subject = storedSubject({ ...probe, lane: run.lane, role: "probe", actor: "prober", kind: "probe" });
    let prev = zeroHash;
    for (const { sequence, seq } of stored.flatMap((receipt) => receipt ?? []).sort((x, y) => x.seq - y.seq)) {
      const message = await readNext(operator, streams.log, subject, sequence);
      const { body } = decodeFrame(message?.data ?? zeroHash);
      const event = decodeBody(body);
      expect([event.seq, hex(event.prev)]).toEqual([seq, hex(prev)]);
      prev = eventHash(body);
    }
    await run.confirm(await run.closeTask("t1", { state: "accepted" }), { timeoutMs: 5_000 });
    expect(await readNext(operator, streams.verdicts, `candor.quarantine.${run.lane}.prober.*`, 1)).toBeUndefined();
    await guard.stop();
  });
});
