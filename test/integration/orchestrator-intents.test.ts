import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { readLast } from "@candor/bus";
import {
  decodeBody,
  decodeDelegationToken,
  decodeFrame,
  decodePayload,
  eventHash,
  hex,
  intentSubject,
  isCandorError,
  streams,
  type CandorError,
  type VerdictBody,
} from "@candor/contract";
import { startGuard, type Guard } from "@candor/guard";
import { createSeed, createSigner, issueCertificate } from "@candor/ledger";
import { connectOrchestrator, type Fleet, type Run } from "@candor/orchestrator";
import { startWorld, type World } from "../kit/world.js";

let world: World;
let guard: Guard;
const fleets: Fleet[] = [];

/** A further replica of the fleet, with the same name and keys. */
async function replica(options: { intentPatienceMs?: number } = {}): Promise<Fleet> {
  const fleet = await connectOrchestrator({
    servers: world.urls,
    credentials: world.folder("orchestrator", "fleet"),
    ...options,
  });
  fleets.push(fleet);
  return fleet;
}

beforeAll(async () => {
  world = await startWorld();
  const { name, signer } = world.credentials("guard", "g1");
  guard = await startGuard({
    connection: await world.connect("guard", "g1"),
    identity: { name, signer, certificate: world.certificate("guard", "g1"), operator: world.operatorKey },
    settings: { checkpointQuietMs: 100 },
  });
});
afterAll(async () => {
  await Promise.all(fleets.map((fleet) => fleet.close()));
  await guard.stop();
  await world.close();
});

const agent = (): Parameters<Run["delegate"]>[0]["agent"] => world.certificate("agent", "payer");

/** The verdicts on the intents of a run so far, once there are this many. */
async function intentVerdicts(run: Run, count: number): Promise<VerdictBody[]> {
  const found: VerdictBody[] = [];
  for await (const { verdict } of run.verdicts()) {
    if (verdict.judge === "intent") found.push(verdict);
    if (found.length === count) break;
  }
  return found;
}

describe("R1 R2 intents on a real server with a guard", () => {
  it("open a run, delegate, re-delegate, recall, terminate and close, each accepted under the next number", async () => {
    const fleet = await replica();
    const run = await fleet.openRun();
    const given = await run.delegate({
      task: "t1",
      agent: agent(),
      brief: { title: "Pay", keyTasks: ["charge"], retryBudget: 2 },
      intents: [{ name: "charge", target: "payments" }, "mail"],
    });
    expect(given).toMatchObject({ task: "t1", epoch: 1, control: 1 });
    expect(Object.keys(given.intentKeys)).toEqual(["charge", "mail"]);

    const recalled = await run.recall("t1", { graceMs: 100, reason: "changed plans" });
    const again = await run.redelegate("t1", { agent: world.certificate("agent", "fetcher") });
    expect(again).toMatchObject({ epoch: 2, control: 3 });
    const ended = await run.terminate("t1", { reason: "enough", force: true });
    const closed = await run.closeTask("t1", { state: "cancelled" });
    for (const intent of [given, recalled, again, ended, closed]) await run.confirm(intent, { timeoutMs: 5_000 });
    await run.confirm(await run.close({ state: "completed" }), { timeoutMs: 5_000 });

    const verdicts = (await intentVerdicts(run, 7)).filter(({ task }) => task === "t1");
    expect(verdicts.map(({ verdict, intent }) => [verdict, intent?.control, intent?.kind])).toEqual([
      ["INTENT_ACCEPTED", 1, "delegate"],
      ["INTENT_ACCEPTED", 2, "recall"],
      ["INTENT_ACCEPTED", 3, "delegate"],
      ["INTENT_ACCEPTED", 4, "terminate"],
      ["INTENT_ACCEPTED", 5, "close"],
    ]);
  });

  it("B7 trust a further prober and no further key of a fleet, which its agents would not obey", async () => {
    const fleet = await replica();
    const run = await fleet.openRun();
    const added = await run.addKey(world.certificate("prober", "prober"));
    await run.confirm(added, { timeoutMs: 5_000 });
    const ended = await run.revokeKey(world.certificate("prober", "prober").key, "rotated");
    await run.confirm(ended, { timeoutMs: 5_000 });
    for (const [role, name] of [
      ["orchestrator", "fleet"],
      ["orchestrator", "rivals"],
      ["agent", "payer"],
      ["guard", "g1"],
    ] as const) {
      await expect(run.addKey(world.certificate(role, name))).rejects.toMatchObject({ code: "untrusted-key" });
    }
    const stranger = createSigner(createSeed());
    const forged = issueCertificate(stranger, { role: "probe", name: "prober", key: stranger.publicKey });
    await expect(run.addKey(forged)).rejects.toMatchObject({ code: "untrusted-key" });
  });

  it("hand the agent a token with the intent as stored, and the predecessor of a later epoch", async () => {
    const fleet = await replica();
    const run = await fleet.openRun();
    await run.delegate({ task: "t1", agent: agent() });
    const { token, sequence } = await run.redelegate("t1", { agent: world.certificate("agent", "fetcher") });
    const { intent, lane, sequence: fenced, dataKey, fleet: certificate } = decodeDelegationToken(token);
    const stored = await readLast(
      await world.connect("operator", "operator"),
      streams.log,
      intentSubject({ lane, run: run.id, task: "t1", fleet: fleet.name }),
    );
    expect(stored?.seq).toBe(sequence);
    expect(fenced).toBe(sequence);
    expect(hex(stored?.data ?? dataKey)).toBe(hex(intent));
    const event = decodeBody(decodeFrame(intent).body);
    expect(decodePayload("delegate", event.payload)).toMatchObject({
      agent: { actor: "fetcher" },
      predecessor: { actor: "payer", epoch: 1 },
    });
    expect(certificate).toEqual(world.certificate("orchestrator", "fleet"));
  });

  it(
    "race of two replicas to recall and to re-delegate: one wins, the other is told what won",
    { timeout: 120_000 },
    async () => {
      const [one, other] = [await replica(), await replica()];
      const run = await one.openRun();
      const mirror = await other.attach(run.id);
      const won = { recall: 0, delegate: 0 };
      for (let round = 1; round <= 20; round += 1) {
        const task = `t${round}`;
        await run.delegate({ task, agent: agent() });
        await mirror.decision(task, { timeoutMs: 100 });
        const results = await Promise.allSettled([
          run.recall(task, { graceMs: 100, reason: "changed plans" }),
          mirror.redelegate(task, { agent: agent() }),
        ]);
        const winners = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
        const losers = results.flatMap((result) =>
          result.status === "rejected" ? [result.reason as CandorError] : [],
        );
        expect(winners).toHaveLength(1);
        expect(losers).toHaveLength(1);
        const [winner] = winners;
        const kind = results[0].status === "fulfilled" ? "recall" : "delegate";
        won[kind] += 1;
        expect(losers[0]).toMatchObject({
          code: "intent-lost",
          details: { winner: { kind, control: 2, actor: "fleet", sequence: winner?.sequence } },
        });
        if (winner !== undefined) await run.confirm(winner, { timeoutMs: 5_000 });
      }
      const verdicts = await intentVerdicts(run, 41);
      expect(verdicts.filter(({ verdict }) => verdict === "INTENT_ACCEPTED")).toHaveLength(41);
      expect(won.recall + won.delegate).toBe(20);
    },
  );

  it("a run that exists is not opened again: attach is what its error names", async () => {
    const [one, other] = [await replica(), await replica()];
    const run = await one.openRun();
    await expect(other.openRun({ run: run.id })).rejects.toMatchObject({
      code: "intent-lost",
      message: expect.stringMatching(/exists already: attach/) as string,
    });
    expect((await other.attach(run.id)).id).toBe(run.id);
  });

  it("race of two replicas that say the very same in the same millisecond: still only one wins", async () => {
    const [one, other] = [await replica(), await replica()];
    const run = await one.openRun();
    const mirror = await other.attach(run.id);
    await run.delegate({ task: "t1", agent: agent() });
    await mirror.decision("t1", { timeoutMs: 100 });
    const clock = vi.spyOn(Date, "now").mockReturnValue(1_800_000_000_000);
    try {
      const results = await Promise.allSettled(
        [run, mirror].map((each) => each.recall("t1", { graceMs: 100, reason: "changed plans" })),
      );
      expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    } finally {
      clock.mockRestore();
    }
  });

  it("one that the guard rejected is reported, and does not block the next", async () => {
    const fleet = await replica();
    const run = await fleet.openRun();
    await run.delegate({ task: "t1", agent: agent() });
    const late = await run.delegate({ task: "t2", agent: agent(), notAfterMs: 1 });
    await expect(run.confirm(late, { timeoutMs: 5_000 })).rejects.toMatchObject({ code: "intent-rejected" });
    expect(await run.delegate({ task: "t2", agent: agent() })).toMatchObject({ epoch: 1, control: 1 });

    const expired = await run.recall("t1", { graceMs: 100, reason: "changed plans", notAfterMs: 1 });
    await expect(run.confirm(expired, { timeoutMs: 5_000 })).rejects.toMatchObject({
      code: "intent-rejected",
      details: { control: 2, findings: [{ code: "intent-expired" }] },
    });
    const recall = await run.recall("t1", { graceMs: 100, reason: "changed plans" });
    expect(recall.control).toBe(2);
    await run.confirm(recall, { timeoutMs: 5_000 });
  });

  it("one that was put into quarantine is reported too", async () => {
    const credentials = { ...world.credentials("orchestrator", "fleet"), signer: createSigner(createSeed()) };
    const stranger = await connectOrchestrator({ servers: world.urls, credentials });
    fleets.push(stranger);
    const run = await stranger.openRun();
    const opening = { task: "_run", epoch: 1, control: 1, sequence: 0, hash: new Uint8Array(32) };
    const stored = await readLast(
      await world.connect("operator", "operator"),
      streams.log,
      intentSubject({ lane: run.lane, run: run.id, task: "_run", fleet: "fleet" }),
    );
    const intent = {
      ...opening,
      sequence: stored?.seq ?? 0,
      hash: eventHash(decodeFrame(stored?.data ?? new Uint8Array(2)).body),
    };
    await expect(run.confirm(intent, { timeoutMs: 5_000 })).rejects.toMatchObject({ code: "intent-rejected" });
  });

  it("without meaning are refused before they are sent", async () => {
    const fleet = await replica();
    const run = await fleet.openRun();
    await expect(run.recall("t9", { graceMs: 1, reason: "none" })).rejects.toMatchObject({ code: "not-found" });
    await run.delegate({ task: "t1", agent: agent() });
    await run.recall("t1", { graceMs: 1, reason: "enough" });
    await expect(run.recall("t1", { graceMs: 1, reason: "enough" })).rejects.toMatchObject({ code: "task-over" });
    await expect(run.delegate({ task: "t2", agent: world.certificate("prober", "prober") })).rejects.toMatchObject({
      code: "untrusted-key",
    });
  });

  it("open a run once, and delegate a task once", async () => {
    const [one, other] = [await replica(), await replica()];
    const run = await one.openRun({ run: "once" });
    await expect(other.openRun({ run: "once" })).rejects.toMatchObject({
      code: "intent-lost",
      details: { winner: { kind: "run-open", control: 1 } },
    });
    await run.delegate({ task: "t1", agent: agent() });
    await expect(run.delegate({ task: "t1", agent: agent() })).rejects.toMatchObject({ code: "intent-lost" });
    const mirror = await other.attach("once");
    await expect(mirror.delegate({ task: "t1", agent: agent() })).rejects.toMatchObject({
      code: "intent-lost",
      details: { winner: { kind: "delegate", control: 1 } },
    });
    await expect(other.attach("never")).rejects.toMatchObject({ code: "not-found" });
  });

  it("go on in another process, under the same data key and policy", async () => {
    const first = await replica();
    const run = await first.openRun();
    const { token } = await run.delegate({ task: "t1", agent: agent() });
    await run.recall("t1", { graceMs: 100, reason: "changed plans" });
    await first.close();

    const second = await replica();
    const mirror = await second.attach(run.id);
    const again = await mirror.redelegate("t1", { agent: world.certificate("agent", "fetcher") });
    expect(again).toMatchObject({ epoch: 2, control: 3 });
    await mirror.confirm(again, { timeoutMs: 5_000 });
    const event = decodeBody(decodeFrame(decodeDelegationToken(again.token).intent).body);
    expect(decodePayload("delegate", event.payload).predecessor).toEqual({ actor: "payer", epoch: 1 });
    expect(hex(decodeDelegationToken(again.token).dataKey)).toBe(hex(decodeDelegationToken(token).dataKey));
    await mirror.close({ state: "completed" });
    await expect(mirror.delegate({ task: "t2", agent: agent() })).rejects.toMatchObject({ code: "task-over" });
    const third = await (await replica()).attach(run.id);
    await expect(third.delegate({ task: "t2", agent: agent() })).rejects.toMatchObject({ code: "task-over" });
  });

  it("S29 survive a kill of the server: each is stored once, under the next number", { timeout: 120_000 }, async () => {
    const fleet = await replica();
    const run = await fleet.openRun();
    const given = [await run.delegate({ task: "t1", agent: agent() })];
    let restarted: Promise<void> | undefined;
    for (let i = 1; i <= 20; i += 1) {
      if (i === 5) restarted = world.nodes[0]?.kill().then(() => world.nodes[0]?.restart());
      try {
        given.push(await run.redelegate("t1", { agent: agent() }));
      } catch (error) {
        expect(isCandorError(error, "publish-unconfirmed", "server-unreachable")).toBe(true);
      }
    }
    await restarted;
    const last = await run.redelegate("t1", { agent: agent() });
    await run.confirm(last, { timeoutMs: 10_000 });
    const verdicts = (await intentVerdicts(run, last.control + 1)).filter(({ task }) => task === "t1");
    expect(verdicts.map(({ verdict, intent }) => [verdict, intent?.control])).toEqual(
      Array.from({ length: last.control }, (_, index) => ["INTENT_ACCEPTED", index + 1]),
    );
    const controls = new Set([...given, last].map(({ control }) => control));
    expect(controls.size).toBe(given.length + 1);
  });
});
