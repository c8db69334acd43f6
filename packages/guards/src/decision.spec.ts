import { describe, expect, it } from "vitest";
import { acceptedTask, type Scenario } from "../../../test/kit/scenario.js";
import { decision } from "./decision.js";

function answerRecall(s: Scenario, control = 2): void {
  const takenAt = s.author("t1").seq - 1;
  s.agent("t1", "no-side-effects", { control, takenAt });
  s.agent("t1", "acknowledge", { control, takenAt, manifest: [] });
}

describe("decision()", () => {
  it("is the strictest action of the judges, final when all are, and ignores verdicts on intents", () => {
    const scenario = acceptedTask();
    expect(decision(scenario.verdicts, 1)).toBeUndefined();
    scenario.report();
    scenario.stop("t1", "recall", { bend: { seq: 1 } });
    expect(decision(scenario.verdicts, 1)).toMatchObject({ action: "proceed", final: true });
    scenario.probe("contradicted");
    expect(decision(scenario.verdicts, 1)).toMatchObject({ action: "halt", final: true });
    scenario.delegate();
    expect(decision(scenario.verdicts, 2)).toBeUndefined();
  });

  it("waits for the recall's end", () => {
    const scenario = acceptedTask();
    scenario.stop("t1", "recall");
    expect(decision(scenario.verdicts, 1)).toMatchObject({ action: "wait", final: false });
    scenario.agent("t1", "acknowledge", { control: 2, takenAt: 1, manifest: [] });
    expect(decision(scenario.verdicts, 1)).toMatchObject({ action: "reconcile", final: true });
  });

  it("R6 D5 of a recalled agent's word that nothing happened proceeds only once its report is judged", () => {
    const scenario = acceptedTask();
    scenario.stop("t1", "recall");
    answerRecall(scenario);
    expect(decision(scenario.verdicts, 1)).toMatchObject({ action: "proceed", final: false });
    scenario.report("t1", { finishReason: "recalled", claim: "none" });
    expect(decision(scenario.verdicts, 1)).toMatchObject({ action: "proceed", final: true });
  });

  it("R8 of a terminated task needs no report: none is due", () => {
    const scenario = acceptedTask();
    scenario.stop("t1", "terminate");
    expect(decision(scenario.verdicts, 1)).toMatchObject({ action: "proceed", final: true });
  });

  it("R7 a late word on an earlier epoch does not hide a ghost of this one, nor the other way round", () => {
    const newer = acceptedTask();
    const dispatch = newer.dispatch();
    newer.delegate().accept();
    newer.report();
    newer.outcome("t1", 99, "committed", "other");
    expect(decision(newer.verdicts, 2)).toMatchObject({ action: "halt" });
    newer.outcome("t1", dispatch, "committed", "charge", 1);
    expect(newer.verdicts.at(-1)).toMatchObject({ epoch: 1, verdict: "EPOCH_ABANDONED", action: "proceed" });
    expect(decision(newer.verdicts, 2)).toMatchObject({ action: "halt" });

    const older = acceptedTask();
    older.delegate();
    older.dispatch("t1", "charge", { epoch: 1 });
    older.accept().report();
    older.stop("t1", "recall");
    answerRecall(older, 3);
    expect(older.verdicts.at(-1)).toMatchObject({ epoch: 2, verdict: "RECALL_NO_SIDE_EFFECTS_SAFE" });
    expect(decision(older.verdicts, 2)).toMatchObject({ action: "halt" });
  });

  it("B6 revisions count on for each epoch, whichever was spoken on in between", () => {
    const scenario = acceptedTask();
    const dispatch = scenario.dispatch();
    scenario.delegate().accept();
    scenario.stop("t1", "recall");
    scenario.outcome("t1", dispatch, "committed", "charge", 1);
    scenario.tick(5_000);
    const spoken = scenario.verdicts.filter(({ judge }) => judge === "recall");
    expect(spoken.map(({ ordinal, epoch, revision }) => [ordinal, epoch, revision])).toEqual([
      [1, 1, 1],
      [2, 2, 1],
      [3, 1, 2],
      [4, 2, 2],
    ]);
  });
});
