import { describe, expect, it } from "vitest";
import type { Payload, Scope } from "@candor/contract";
import { acceptedTask, fullScope, type Scenario } from "../../../test/kit/scenario.js";

const judged = (verdict: string, action: string, final: boolean, ...findings: string[]) => ({
  verdict,
  action,
  final,
  findings,
});

function acknowledge(s: Scenario, bend: Partial<Payload<"acknowledge">> = {}, control = 2): void {
  const takenAt = s.author("t1").seq - 1;
  s.agent("t1", "acknowledge", { control, takenAt, manifest: [], ...bend });
}

function noSideEffects(s: Scenario, control = 2): void {
  s.agent("t1", "no-side-effects", { control, takenAt: s.author("t1").seq - 1 });
}

const inFlight = (dispatch: number) => [{ dispatch, intent: "charge", key: "key-charge", target: "payments" }];

const cases: readonly (readonly [name: string, when: (s: Scenario) => void, then: object])[] = [
  ["R8 no acknowledgement yet: wait", (s) => s.stop("t1", "recall"), judged("RECALL_ACTIVE", "wait", false)],
  [
    "R8 no acknowledgement in time: escalate, never assume stopped",
    (s) => {
      s.stop("t1", "recall");
      s.tick(5_000);
    },
    judged("RECALL_ACTIVE", "escalate", false, "acknowledgement-missing"),
  ],
  [
    "R4 R8 no acknowledgement until the window ends",
    (s) => {
      s.stop("t1", "recall");
      s.tick(5_000).tick(5_000);
    },
    judged("RECALL_COMPLETION_GRACE_EXPIRED", "escalate", true, "acknowledgement-missing"),
  ],
  [
    "R6 a signed no-side-effects receipt that the log does not contradict",
    (s) => {
      s.stop("t1", "recall");
      noSideEffects(s);
      acknowledge(s);
    },
    judged("RECALL_NO_SIDE_EFFECTS_SAFE", "proceed", true),
  ],
  [
    "R6 such a receipt before there is anything to answer",
    (s) => {
      noSideEffects(s, 999);
      s.stop("t1", "recall");
      acknowledge(s);
    },
    judged("RECALL_ACTIVE", "escalate", true, "manifest-mismatch"),
  ],
  [
    "R6 such a receipt for another control number",
    (s) => {
      s.stop("t1", "recall");
      noSideEffects(s, 3);
      acknowledge(s);
    },
    judged("RECALL_ACTIVE", "escalate", true, "manifest-mismatch"),
  ],
  [
    "R3 R6 an answer that the log has from before the recall, and that waited behind a gap",
    (s) => {
      const missing = s.record("t1", "error", s.errorPayload());
      noSideEffects(s);
      acknowledge(s);
      s.stop("t1", "recall");
      missing.store();
    },
    judged("RECALL_ACTIVE", "wait", false, "manifest-mismatch"),
  ],
  [
    "R6 acknowledged without that receipt: reconcile, although nothing is in flight",
    (s) => {
      s.stop("t1", "recall");
      acknowledge(s);
    },
    judged("RECALL_ACTIVE", "reconcile", true),
  ],
  [
    "R3 S10 in flight as the manifest says",
    (s) => {
      const dispatch = s.dispatch();
      s.stop("t1", "recall");
      acknowledge(s, { manifest: inFlight(dispatch) });
    },
    judged("RECALL_INFLIGHT_ACTIONS_PENDING", "wait", false),
  ],
  [
    "R3 in flight, and its outcome arrives inside the window",
    (s) => {
      const dispatch = s.dispatch();
      s.stop("t1", "recall");
      acknowledge(s, { manifest: inFlight(dispatch) });
      s.outcome("t1", dispatch);
    },
    judged("RECALL_ACTIVE", "reconcile", true),
  ],
  [
    "R4 the window ends with an effect in flight",
    (s) => {
      const dispatch = s.dispatch();
      s.stop("t1", "recall");
      acknowledge(s, { manifest: inFlight(dispatch) });
      s.tick(10_000);
    },
    judged("RECALL_COMPLETION_GRACE_EXPIRED", "reconcile", true, "effects-unknown"),
  ],
  [
    "R3 a manifest that omits an effect in flight",
    (s) => {
      s.dispatch();
      s.stop("t1", "recall");
      acknowledge(s);
    },
    judged("RECALL_INFLIGHT_ACTIONS_PENDING", "escalate", false, "manifest-mismatch"),
  ],
  [
    "R3 a manifest that lists an effect the log does not know",
    (s) => {
      s.stop("t1", "recall");
      acknowledge(s, { manifest: inFlight(9) });
    },
    judged("RECALL_ACTIVE", "escalate", true, "manifest-mismatch"),
  ],
  [
    "R3 a manifest that is absent is not empty",
    (s) => {
      s.stop("t1", "recall");
      s.agent("t1", "acknowledge", { control: 2, takenAt: 1 });
    },
    judged("RECALL_ACTIVE", "escalate", true, "manifest-mismatch"),
  ],
  [
    "R3 no side effects claimed together with an effect in flight",
    (s) => {
      const dispatch = s.dispatch();
      s.stop("t1", "recall");
      noSideEffects(s);
      acknowledge(s, { manifest: inFlight(dispatch) });
    },
    judged("RECALL_INFLIGHT_ACTIONS_PENDING", "escalate", false, "no-side-effects-contradicted"),
  ],
  [
    "R7 an effect dispatched after the recall is a ghost",
    (s) => {
      s.stop("t1", "recall");
      s.dispatch();
    },
    judged("GHOST_ACTION_DETECTED", "halt", true, "ghost-action", "effects-unknown"),
  ],
  [
    "R7 an outcome without a dispatch ran past the fence",
    (s) => s.outcome("t1", 9),
    judged("GHOST_ACTION_DETECTED", "halt", true, "ghost-action"),
  ],
  [
    "R4 an excessive window is cut to the maximum and named",
    (s) => {
      s.stop("t1", "recall", { graceMs: 1e9 });
      s.tick(5_000).tick(54_999);
    },
    judged("RECALL_ACTIVE", "escalate", false, "grace-excessive", "acknowledgement-missing"),
  ],
  [
    "R4 … and ends at the maximum",
    (s) => {
      s.stop("t1", "recall", { graceMs: 1e9 });
      s.tick(60_000);
    },
    judged("RECALL_COMPLETION_GRACE_EXPIRED", "escalate", true, "grace-excessive", "acknowledgement-missing"),
  ],
  [
    "R8 a late acknowledgement is named late",
    (s) => {
      s.stop("t1", "recall");
      s.tick(5_001);
      noSideEffects(s);
      acknowledge(s);
    },
    judged("RECALL_NO_SIDE_EFFECTS_SAFE", "proceed", true, "acknowledgement-late"),
  ],
  [
    "R8 termination reports every effect without an outcome as unknown",
    (s) => {
      s.dispatch();
      s.stop("t1", "terminate");
    },
    judged("TERMINATED_WITH_UNKNOWNS", "reconcile", true, "effects-unknown"),
  ],
  ["R8 termination of a task without effects", (s) => s.stop("t1", "terminate"), judged("TERMINATED", "proceed", true)],
  [
    "R11 re-delegation of an epoch that never reported: abandoned, its dispatched effects unknown",
    (s) => {
      s.dispatch();
      s.delegate();
    },
    judged("EPOCH_ABANDONED", "reconcile", true, "epoch-abandoned", "effects-unknown"),
  ],
  [
    "R7 S14 an effect under an old epoch is a ghost",
    (s) => {
      s.delegate();
      s.dispatch("t1", "charge", { epoch: 1 });
    },
    judged("GHOST_ACTION_DETECTED", "halt", true, "ghost-action", "effects-unknown"),
  ],
  [
    "F7 one key, two meanings",
    (s) => {
      s.outcome("t1", s.dispatch("t1", "charge", { digest: new Uint8Array(32).fill(1) }));
      s.dispatch("t1", "charge", { digest: new Uint8Array(32).fill(2) });
    },
    judged("GHOST_ACTION_DETECTED", "halt", true, "intent-key-reuse", "effects-unknown"),
  ],
  [
    "F7 an effect without a minted key, from a runtime that promised to enforce them",
    (s) => s.dispatch("t1", "unminted"),
    judged("GHOST_ACTION_DETECTED", "halt", true, "effect-unfenced", "effects-unknown"),
  ],
];

it("R6 D11 that nothing happened is no word of a runtime that does not see effects", () => {
  const scope: Scope = { ...fullScope, dimensions: { ...fullScope.dimensions, effects: "unseen" } };
  const scenario = acceptedTask({ scope });
  scenario.stop("t1", "recall");
  noSideEffects(scenario);
  acknowledge(scenario);
  expect(scenario.last("recall")).toEqual(judged("RECALL_ACTIVE", "reconcile", true));
});

describe("recall, strictly: given an accepted task", () => {
  it.each(cases)("%s", (_, when, then) => {
    const scenario = acceptedTask();
    when(scenario);
    expect(scenario.last("recall")).toEqual(then);
  });

  it("S14 events of a superseded epoch are refused and change nothing", () => {
    const scenario = acceptedTask();
    scenario.delegate();
    const before = scenario.verdicts.length;
    scenario.agent("t1", "error", scenario.errorPayload(), { epoch: 1 });
    scenario.agent("t1", "report", scenario.reportPayload(), { epoch: 1 });
    expect(scenario.codes()).toEqual(["wrong-epoch", "wrong-epoch"]);
    expect(scenario.verdicts).toHaveLength(before);
  });

  it("F7 in observe mode an effect without a minted key is no alarm", () => {
    const scenario = acceptedTask({ mode: "observe" });
    scenario.dispatch("t1", "unminted");
    expect(scenario.last("recall")).toBeUndefined();
  });

  it("R10 the reference stands beside the strict verdict", () => {
    const scenario = acceptedTask();
    scenario.stop("t1", "recall");
    expect(scenario.verdicts.at(-1)?.reference?.directive).toContain("PROCEED");
    expect(scenario.last("recall")?.action).toBe("wait");
  });

  it("R4 a timer is believed by its stored timestamp alone", () => {
    const scenario = acceptedTask();
    scenario.stop("t1", "recall");
    const grace = scenario.timers.find(({ timer }) => timer === "grace");
    if (grace === undefined) expect.unreachable();
    const early = scenario.timer(grace);
    expect(early).toEqual([{ type: "timer", ...grace }]);
    scenario.nowMs += 10_000;
    scenario.timer(grace);
    const spoken = scenario.verdicts.length;
    expect(scenario.last("recall")?.verdict).toBe("RECALL_COMPLETION_GRACE_EXPIRED");
    expect(scenario.timer(grace)).toEqual([]);
    expect(scenario.verdicts).toHaveLength(spoken);
  });
});
