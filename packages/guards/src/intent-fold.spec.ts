import { describe, expect, it } from "vitest";
import { acceptedTask, keys, type Scenario } from "../../../test/kit/scenario.js";

describe("R2 the control sequence", () => {
  const rejected = (code: string) => ({ verdict: "INTENT_REJECTED", action: "halt", final: true, findings: [code] });
  const bent: readonly (readonly [string, (s: Scenario) => void, string])[] = [
    ["stale: a number already used", (s) => s.stop("t1", "recall", { bend: { seq: 1 } }), "intent-stale"],
    ["skipped: a number too far", (s) => s.stop("t1", "recall", { bend: { seq: 3 } }), "intent-skipped"],
    [
      "contradictory: another predecessor",
      (s) => s.stop("t1", "recall", { bend: { prev: new Uint8Array(32) } }),
      "intent-contradictory",
    ],
    ["contradictory: another epoch", (s) => s.stop("t1", "recall", { bend: { epoch: 2 } }), "intent-contradictory"],
    [
      "foreign: another fleet",
      (s) => s.stop("t1", "recall", { bend: { actor: "others", signer: keys.stranger } }),
      "intent-foreign",
    ],
    [
      "stale: a second recall (S13)",
      (s) => {
        s.stop("t1", "recall");
        s.stop("t1", "recall");
      },
      "intent-stale",
    ],
    [
      "expired",
      (s) => {
        const standing = { epoch: 1, state: "recalled" as const };
        s.intent("t1", "recall", { standing, graceMs: 1, reason: "r", notAfterMs: s.nowMs - 1 });
      },
      "intent-expired",
    ],
  ];
  it.each(bent)("rejects what is %s, and the next good one holds", (_, when, code) => {
    const scenario = acceptedTask();
    when(scenario);
    expect(scenario.last("intent")).toEqual(rejected(code));
    scenario.delegate();
    expect(scenario.last("intent")?.verdict).toBe("INTENT_ACCEPTED");
  });

  it("rejects a repetition of the very same bytes, once", () => {
    const scenario = acceptedTask();
    const again = scenario.log[1];
    if (again === undefined) expect.unreachable();
    scenario.store(again.subject, again.data);
    expect(scenario.last("intent")).toEqual(rejected("intent-repeated"));
    const spoken = scenario.verdicts.length;
    scenario.store(again.subject, again.data);
    expect(scenario.verdicts).toHaveLength(spoken);
  });

  it("quarantines an intent that its fleet's key did not sign", () => {
    const scenario = acceptedTask();
    scenario.stop("t1", "recall", { bend: { signer: keys.stranger } });
    scenario.stop("t1", "recall", { bend: { signer: undefined } });
    expect(scenario.codes()).toEqual(["bad-signature", "unsigned"]);
    expect(scenario.last("recall")).toBeUndefined();
  });
});

describe("R2 a closed run", () => {
  it.each<[string, (s: Scenario) => void]>([
    ["a delegation of a new task", (s) => void s.delegate("t2")],
    ["a re-delegation", (s) => void s.delegate("t1")],
    ["a recall", (s) => void s.stop("t1", "recall")],
    ["a termination", (s) => void s.stop("t1", "terminate")],
  ])("takes no more intents: %s is stale and changes nothing", (_, late) => {
    const scenario = acceptedTask();
    scenario.report();
    scenario.intent("_run", "run-close", { state: "completed" });
    const spoken = scenario.verdicts.length;
    late(scenario);
    expect(scenario.verdicts.slice(spoken)).toMatchObject([
      { judge: "intent", verdict: "INTENT_REJECTED", findings: [{ code: "intent-stale" }] },
    ]);
  });
});
