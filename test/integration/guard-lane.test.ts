import { getEventListeners } from "node:events";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { equalBytes, sha256, type StoredMessage } from "@candor/contract";
import { gist, honestTask, laneOfRun, startGuardStage, until, type GuardStage } from "../kit/guard-stage.js";
import { Scenario } from "../kit/scenario.js";

let stage: GuardStage;

beforeAll(async () => {
  stage = await startGuardStage();
});
afterEach(async () => {
  await stage.stopGuards();
});
afterAll(async () => {
  await stage.close();
});

describe("a lane end to end", () => {
  it("B1 B6 folds events into the verdicts that the log alone gives, signed by the guard", async () => {
    const guard = await stage.guard();
    const scenario = honestTask("end-to-end");
    await stage.play(scenario);
    const stored = await stage.untilVerdicts("end-to-end", scenario.verdicts.length);
    expect(gist(stored)).toEqual(gist(scenario.verdicts));
    expect(stored.at(-1)).toMatchObject({ verdict: "FULL_DISCLOSURE_VERIFIED", action: "proceed", guard: "g1" });
    const lane = laneOfRun(stage, "end-to-end");
    expect(guard.view(lane, { run: "end-to-end", task: "t1" })).toMatchObject({
      state: "live",
      task: { standing: "delegated", reported: true, errors: 1, retries: 1 },
    });
  });

  it("B5 a guard that starts again publishes nothing twice and goes on where it was", async () => {
    const scenario = honestTask("restart");
    await stage.play(scenario);
    const first = await stage.guard();
    await stage.untilVerdicts("restart", scenario.verdicts.length);
    await first.stop();
    const before = await stage.records();

    const second = await stage.guard("g2");
    const lane = laneOfRun(stage, "restart");
    await until(() => second.view(lane)?.state === "live");
    expect(second.view(lane)?.metrics).toMatchObject({ events: 0 });
    expect(second.view(lane)?.metrics.replayed).toBeGreaterThanOrEqual(scenario.log.length);
    scenario.delegate("t2").accept("t2").report("t2");
    await stage.play(scenario);
    const stored = await stage.untilVerdicts("restart", scenario.verdicts.length);
    expect(gist(stored)).toEqual(gist(scenario.verdicts));
    const added = (await stage.records()).slice(before.length);
    expect(added.filter(({ subject }) => subject.includes(".t1."))).toEqual([]);
  });

  it("B5 a guard that loses all its checkpoints adopts what is stored, byte for byte", async () => {
    const scenario = honestTask("adopt", ["t1", "t2", "t3"]);
    await stage.play(scenario);
    const slow = { settings: { checkpointEvents: 1_000_000, checkpointQuietMs: 600_000, standbyMs: 20 } };
    const lane = laneOfRun(stage, "adopt");
    const first = await stage.guard("g1", { ...slow, lanes: [lane] });
    await stage.untilVerdicts("adopt", scenario.verdicts.length);
    const second = await stage.guard("g2", { ...slow, lanes: [lane] });
    await until(() => second.view(lane)?.position === first.view(lane)?.position && second.view(lane)?.underWay === 0);
    const view = second.view(lane);
    expect(view?.metrics).toMatchObject({ stored: 0, diverged: 0 });
    expect(view?.metrics.adopted).toBeGreaterThanOrEqual(scenario.verdicts.length);
    expect(gist(await stage.verdicts("adopt"))).toEqual(gist(scenario.verdicts));
  });
});

describe("B3 B4 what is refused", () => {
  it("is quarantined by code, sequence, hash and path, and stalls nothing", async () => {
    await stage.guard();
    const run = "refused";
    const scenario = new Scenario({ run }).open().delegate("t1").accept();
    await stage.play(scenario);

    const subject = scenario.log.at(-1)?.subject.replace("accept", "error") ?? "";
    const good = scenario.record("t1", "error", scenario.errorPayload());
    good.store();
    const honest = scenario.log.at(-1) as StoredMessage;
    const flipped = Uint8Array.from(honest.data);
    flipped[1] = 0x9c;
    const accept = scenario.log.find((message) => message.subject.endsWith(".accept")) as StoredMessage;
    const forged = Uint8Array.from(accept.data);
    forged[forged.length - 1] = (forged.at(-1) ?? 0) ^ 1;
    const cases: readonly (readonly [code: string, message: { subject: string; data: Uint8Array }])[] = [
      ["malformed", { subject, data: Uint8Array.of(1, 2, 3) }],
      ["malformed", { subject, data: new Uint8Array() }],
      ["malformed", { subject, data: flipped }],
      ["subject-mismatch", { subject: subject.replace(".t1.", ".t2."), data: honest.data }],
      ["bad-signature", { subject: accept.subject, data: forged }],
      ["no-delegation", { subject: subject.replaceAll(`.${run}.`, ".no-such-run."), data: honest.data }],
    ];
    for (const [, message] of cases.slice(0, 5)) await stage.publish(message);
    await stage.publish(honest);
    scenario.report();
    await stage.publish(scenario.log.at(-1) as StoredMessage);
    const stored = await stage.untilVerdicts(run, scenario.verdicts.length);
    expect(gist(stored)).toEqual(gist(scenario.verdicts));

    const found = await until(async () => {
      const all = (await stage.quarantined()).filter((record) => record.subject.includes(`.${run}.`));
      return all.length === 5 && all;
    });
    for (const [index, [code, { data }]] of cases.slice(0, 5).entries()) {
      expect(found[index]).toMatchObject({ code });
      expect(equalBytes(found[index]?.sha256 ?? new Uint8Array(), sha256(data))).toBe(true);
    }
  });

  it("reaches its publisher as a live notice", async () => {
    await stage.guard();
    const { nc } = await stage.server.connect("agent", "agent");
    const notice = new Promise<string>((resolve) => {
      nc.subscribe("candor.live.quarantine.*.agent.*", {
        callback: (error, message) => {
          if (error === null) resolve(message.subject);
        },
      });
    });
    await nc.flush();
    await nc.request("candor.in.agent.agent.nobody.t1.error", "not an event");
    expect(await notice).toMatch(/^candor\.live\.quarantine\.\d+\.agent\.\d+$/);
  });
});

describe("deadlines", () => {
  it("R4 R8 D1 expire through timer events in the log, and the verdicts say so", async () => {
    const guard = await stage.guard();
    const policy = { settleMs: 200, acknowledgeMs: 150, maxGraceMs: 300 };
    const scenario = new Scenario({ run: "timers", policy })
      .open()
      .delegate("t1", { intents: ["charge"] })
      .accept();
    scenario.dispatch();
    scenario.stop("t1", "recall", { graceMs: 300 });
    await stage.play(scenario);
    const last = await until(async () =>
      (await stage.verdicts("timers")).find(({ verdict }) => verdict === "RECALL_COMPLETION_GRACE_EXPIRED"),
    );
    expect(last.findings.map(({ code }) => code)).toContain("acknowledgement-missing");
    const lane = laneOfRun(stage, "timers");
    await until(() => guard.view(lane)?.timers === 0);
    expect(guard.view(lane)?.metrics.timersFired).toBe(2);
  });

  it("are armed again by a guard that starts while they run, and fire once overdue", async () => {
    const scenario = new Scenario({ run: "rearm", policy: { settleMs: 400 } }).open().delegate("t1").accept();
    // Recorded and never stored: a gap in the chain.
    scenario.record("t1", "error", scenario.errorPayload());
    scenario.error();
    scenario.report();
    const first = await stage.guard();
    await stage.play(scenario);
    const lane = laneOfRun(stage, "rearm");
    await until(() => first.view(lane)?.timers === 1);
    await first.stop();
    await stage.guard("g2");
    const verdict = await until(async () =>
      (await stage.verdicts("rearm")).find(({ judge }) => judge === "disclosure"),
    );
    expect(verdict).toMatchObject({ verdict: "CONCEALMENT_DETECTED", final: true, guard: "g2" });
    expect(verdict.findings.map(({ code }) => code)).toContain("log-gap");
  });
});

describe("what comes late", () => {
  it("is judged after the closed task's history is read again, and changes nothing else", async () => {
    const guard = await stage.guard();
    const lane = laneOfRun(stage, "late");
    const scenario = honestTask("late", ["t1", "t2"]);
    scenario.close("t1");
    await stage.play(scenario);
    await stage.untilVerdicts("late", scenario.verdicts.length);
    expect(guard.view(lane, { run: "late" })?.tasks).toEqual(["t2"]);

    scenario.error("t1");
    scenario.report("t2");
    await stage.play(scenario);
    const stored = await stage.untilVerdicts("late", scenario.verdicts.length);
    expect(gist(stored)).toEqual(gist(scenario.verdicts));
    expect(guard.view(lane)?.metrics.revivals).toBe(1);
    expect(guard.view(lane, { run: "late" })?.tasks).toEqual(["t2"]);
  });

  it("leaves nothing behind on the guard's own signal, however often it is read", { timeout: 20_000 }, async () => {
    const signals = new Set<AbortSignal>();
    const add = Reflect.get(EventTarget.prototype, "addEventListener") as () => void;
    const spy = vi.spyOn(EventTarget.prototype, "addEventListener").mockImplementation(function (
      this: EventTarget,
      ...args
    ) {
      if (this instanceof AbortSignal) signals.add(this);
      Reflect.apply(add, this, args);
    });
    try {
      const run = "late-often";
      const guard = await stage.guard();
      const lane = laneOfRun(stage, run);
      const tasks = ["t1", "t2", "t3"];
      const scenario = honestTask(run, tasks);
      for (const task of tasks) scenario.close(task);
      await stage.play(scenario);
      await stage.untilVerdicts(run, scenario.verdicts.length);
      for (const task of tasks) scenario.error(task);
      await stage.play(scenario);
      await until(() => guard.view(lane)?.metrics.revivals === tasks.length);
      await until(() => [...signals].every((signal) => getEventListeners(signal, "abort").length === 0));
      expect(signals.size).toBeGreaterThan(0);
    } finally {
      spy.mockRestore();
    }
  });
});
