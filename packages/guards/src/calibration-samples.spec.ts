import { admit, verifySignature } from "@candor/ledger";
import { describe, expect, it } from "vitest";
import { keys, operator, Scenario } from "../../../test/kit/scenario.js";
import { calibrationSamples } from "./calibration-samples.js";

function samplesOf(scenario: Scenario) {
  return calibrationSamples(scenario.log.map(admit), { lane: 0, operator: operator.publicKey }, verifySignature);
}

/** A task that is reported on with this number of the model's own. */
function reported(scenario: Scenario, task: string, selfReportedConfidence?: number): Scenario {
  scenario.delegate(task).accept(task);
  return scenario.report(task, selfReportedConfidence === undefined ? {} : { selfReportedConfidence });
}

describe("T6 samples of a run", () => {
  it("are the reports whose truth an independent prober told", () => {
    const scenario = new Scenario().open();
    reported(scenario, "right", 0.9).probe("confirmed", { task: "right" });
    reported(scenario, "wrong", 0.8).probe("contradicted", { task: "wrong" });
    reported(scenario, "silent").probe("confirmed", { task: "silent" });
    reported(scenario, "unknown", 0.7).probe("inconclusive", { task: "unknown" });
    reported(scenario, "unprobed", 0.7);
    scenario.close("right");
    expect(samplesOf(scenario)).toMatchObject([
      { actor: "agent", task: "right", epoch: 1, selfReported: 0.9, computed: 1, confirmed: true },
      { task: "wrong", selfReported: 0.8, confirmed: false },
      { task: "silent", selfReported: null, confirmed: true },
    ]);
  });

  it("each epoch counts for itself, and by the score that the log gives, not by the one that was reported", () => {
    const scenario = new Scenario().open().delegate().accept();
    const failed = scenario.error();
    scenario.retry("t1", 2, failed);
    scenario.report("t1", { confidence: { formula: 1, score: 1, caveats: 0 } }).probe("contradicted");
    scenario.delegate().accept().report().probe("confirmed", { epoch: 2 });
    expect(samplesOf(scenario)).toMatchObject([
      { epoch: 1, computed: 0.9603, confirmed: false },
      { epoch: 2, computed: 1, confirmed: true },
    ]);
  });

  it("a receipt of a stranger or of the agent itself tells nothing", () => {
    const scenario = new Scenario().open();
    reported(scenario, "a", 0.9).probe("confirmed", { task: "a", signer: keys.stranger });
    reported(scenario, "b", 0.9);
    scenario.trust("other", keys.deployment.publicKey);
    scenario.probe("confirmed", { task: "b", actor: "other", signer: keys.deployment });
    expect(samplesOf(scenario)).toEqual([]);
  });
});
