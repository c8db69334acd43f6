import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { laneOfRun, startGuardStage, until, type GuardStage } from "../kit/guard-stage.js";
import { Scenario } from "../kit/scenario.js";

let stage: GuardStage;

beforeAll(async () => {
  stage = await startGuardStage();
});
afterAll(async () => {
  await stage.close();
});

/** One honest task from its delegation to its report. */
function honestTask(run: string): Scenario {
  const scenario = new Scenario({ run }).open().delegate("t1").accept();
  const failed = scenario.error();
  scenario.retry("t1", 2, failed);
  return scenario.report();
}

describe("a lane end to end", () => {
  it("B1 B6 folds events into the verdicts that the log alone gives, signed by the guard", async () => {
    const guard = await stage.guard();
    const scenario = honestTask("end-to-end");
    await stage.play(scenario);
    const stored = await until(async () => {
      const found = await stage.verdicts("end-to-end");
      return found.length >= scenario.verdicts.length && found;
    });
    expect(stored.map(({ judge, verdict, action, final }) => ({ judge, verdict, action, final }))).toEqual(
      scenario.verdicts.map(({ judge, verdict, action, final }) => ({ judge, verdict, action, final })),
    );
    expect(stored.at(-1)).toMatchObject({ verdict: "FULL_DISCLOSURE_VERIFIED", action: "proceed", guard: "g1" });
    const lane = laneOfRun(stage, "end-to-end");
    expect(guard.view(lane, { run: "end-to-end", task: "t1" })).toMatchObject({
      state: "live",
      task: { standing: "delegated", reported: true, errors: 1, retries: 1 },
    });
    await guard.stop();
  });
});
