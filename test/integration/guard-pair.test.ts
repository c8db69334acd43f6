import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  encodeSigned,
  encodeVerdictBody,
  guardRecordMessage,
  silentLogger,
  verdictSubject,
  type VerdictBody,
} from "@candor/contract";
import {
  gist,
  honestTask,
  laneOfRun,
  startGuardStage,
  until,
  type GuardStage,
  type StoredVerdict,
} from "../kit/guard-stage.js";
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

describe("two guards on one lane", () => {
  it("B5 share the work: each verdict is stored once, and both know the same state", async () => {
    const lane = laneOfRun(stage, "pair");
    const guards = [await stage.guard("g1", { lanes: [lane] }), await stage.guard("g2", { lanes: [lane] })] as const;
    const scenario = honestTask("pair", ["t1", "t2", "t3", "t4"]);
    await stage.play(scenario);
    await stage.untilVerdicts("pair", scenario.verdicts.length);
    const views = await until(() => {
      const now = guards.map((guard) => guard.view(lane));
      const settled = now.every((view) => view?.underWay === 0 && view.position === now[0]?.position);
      return settled && now;
    });
    expect(gist(await stage.verdicts("pair"))).toEqual(gist(scenario.verdicts));
    expect(views[0]?.root).toBe(views[1]?.root);
    for (const view of views) {
      expect(view?.metrics.diverged).toBe(0);
      expect((view?.metrics.stored ?? 0) + (view?.metrics.adopted ?? 0)).toBe(
        (view?.metrics.verdicts ?? 0) + (view?.metrics.quarantined ?? 0),
      );
    }
  });

  it("B5 an expired deadline is judged once, whoever publishes its timer", async () => {
    const lane = laneOfRun(stage, "pair-timer");
    const guards = [await stage.guard("g1", { lanes: [lane] }), await stage.guard("g2", { lanes: [lane] })] as const;
    const scenario = new Scenario({ run: "pair-timer", policy: { acknowledgeMs: 150, maxGraceMs: 250 } });
    scenario
      .open()
      .delegate("t1", { intents: ["charge"] })
      .accept();
    scenario.dispatch();
    scenario.stop("t1", "recall", { graceMs: 250 });
    await stage.play(scenario);
    const isExpired = ({ verdict }: StoredVerdict): boolean => verdict === "RECALL_COMPLETION_GRACE_EXPIRED";
    await until(async () => (await stage.verdicts("pair-timer")).some(isExpired));
    await until(() => guards.every((guard) => guard.view(lane)?.timers === 0));
    await until(() => guards.every((guard) => guard.view(lane)?.underWay === 0));
    expect((await stage.verdicts("pair-timer")).filter(isExpired).length).toBe(1);
  });

  it("guard-divergence: where another one stored something else, a guard raises an alarm, says no more there, and reads on", async () => {
    const run = "divergence";
    const lane = laneOfRun(stage, run);
    const scenario = honestTask(run);
    const mine = scenario.verdicts.find(({ judge }) => judge === "disclosure") as VerdictBody;
    const body = encodeVerdictBody({ ...mine, verdict: "CONCEALMENT_DETECTED" });
    const { signer, certificate } = stage.guardIdentity("g2");
    const signature = signer.sign(guardRecordMessage("verdict", body));
    const { nc } = await stage.server.connect("guard", "g2");
    const subject = verdictSubject({ lane, run, task: "t1", judge: "disclosure" });
    await nc.request(subject, encodeSigned({ body, certificate, signature }));

    const errors: string[] = [];
    const logger = { ...silentLogger, error: (fields: object) => errors.push(JSON.stringify(fields)) };
    const guard = await stage.guard("g1", { lanes: [lane], logger });
    await stage.play(scenario);
    scenario.delegate("t2").accept("t2").report("t2");
    await stage.play(scenario);
    await until(async () =>
      (await stage.verdicts(run)).some(({ task, judge }) => task === "t2" && judge === "disclosure"),
    );
    expect(guard.view(lane)).toMatchObject({ state: "live", diverged: [subject], metrics: { diverged: 1 } });
    expect(errors.join()).toContain("guard-divergence");
    expect((await stage.records()).filter((record) => record.subject === subject).length).toBe(1);
  });
});
