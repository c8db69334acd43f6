import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Payload } from "@candor/contract";
import { acceptedTask, type Scenario } from "../../../test/kit/scenario.js";

const takenAt = (s: Scenario): number => s.author("t1").seq - 1;

/** A dispatch that the agent wrote and that is not in the log, or not yet. */
function heldBack(s: Scenario): { store: () => unknown } {
  return s.record("t1", "effect", { phase: "dispatched", intent: "charge", key: "key-charge", target: "payments" });
}

function answerRecall(s: Scenario): void {
  s.agent("t1", "no-side-effects", { control: 2, takenAt: takenAt(s) });
  s.agent("t1", "acknowledge", { control: 2, takenAt: takenAt(s), manifest: [] });
}

describe("R7 behind a gap there may be a dispatch, so that it never ends in proceed", () => {
  it("a termination names it and escalates, until the missing event shows what it was", () => {
    const scenario = acceptedTask();
    const missing = scenario.record("t1", "error", scenario.errorPayload());
    scenario.error();
    scenario.stop("t1", "terminate");
    expect(scenario.last("recall")).toMatchObject({ verdict: "TERMINATED", action: "escalate", findings: ["log-gap"] });
    missing.store();
    expect(scenario.last("recall")).toMatchObject({ verdict: "TERMINATED", action: "proceed", findings: [] });
  });

  it("R11 a re-delegation names it; a dispatch that waited is known all the same, and is no ghost", () => {
    const scenario = acceptedTask();
    scenario.record("t1", "error", scenario.errorPayload());
    scenario.dispatch();
    scenario.delegate();
    expect(scenario.last("recall")).toEqual({
      verdict: "EPOCH_ABANDONED",
      action: "escalate",
      final: true,
      findings: ["epoch-abandoned", "log-gap", "effects-unknown"],
    });
  });

  it("R6 a receipt that nothing happened waits for it, to the end of the window", () => {
    const scenario = acceptedTask();
    scenario.stop("t1", "recall");
    answerRecall(scenario);
    expect(scenario.last("recall")?.verdict).toBe("RECALL_NO_SIDE_EFFECTS_SAFE");
    const missing = scenario.record("t1", "error", scenario.errorPayload());
    scenario.error();
    expect(scenario.last("recall")).toMatchObject({ verdict: "RECALL_ACTIVE", action: "wait", final: false });
    const late = scenario.replay();
    missing.store();
    expect(scenario.last("recall")).toMatchObject({ verdict: "RECALL_NO_SIDE_EFFECTS_SAFE", final: true });
    late.tick(10_000);
    expect(late.last("recall")).toEqual({
      verdict: "RECALL_COMPLETION_GRACE_EXPIRED",
      action: "escalate",
      final: true,
      findings: ["log-gap"],
    });
  });

  it("R7 a dispatch stored before the recall is no ghost, although a gap closed only after it", () => {
    const scenario = acceptedTask();
    const missing = scenario.record("t1", "error", scenario.errorPayload({ recovered: true }));
    scenario.dispatch();
    scenario.stop("t1", "recall");
    missing.store();
    expect(scenario.last("recall")).toMatchObject({ verdict: "RECALL_ACTIVE", action: "wait", findings: [] });
  });

  it("R7 events that were too many to be kept count as a gap", () => {
    const scenario = acceptedTask({ policy: { reorderBuffer: 1 } });
    const missing = scenario.record("t1", "error", scenario.errorPayload({ recovered: true }));
    scenario.error("t1", { recovered: true });
    scenario.dispatch();
    missing.store();
    scenario.stop("t1", "terminate");
    expect(scenario.last("recall")).toMatchObject({ action: "escalate", findings: ["log-gap"] });
  });

  it("S14 a duplicate of what an old epoch did in its time is no ghost", () => {
    const scenario = acceptedTask();
    const dispatch = scenario.dispatch();
    const stored = scenario.log.at(-1);
    scenario.outcome("t1", dispatch);
    scenario.delegate();
    const spoken = scenario.verdicts.length;
    if (stored === undefined) expect.unreachable();
    scenario.store(stored.subject, stored.data);
    expect(scenario.verdicts).toHaveLength(spoken);
    expect(scenario.quarantined).toEqual([]);
  });
});

describe("D1 late arrival after the report is no finding, until its window is over", () => {
  const overtaken = (): { scenario: Scenario; missing: { store: () => unknown } } => {
    const scenario = acceptedTask();
    scenario.report();
    scenario.stop("t1", "recall");
    const missing = scenario.record("t1", "no-side-effects", { control: 2, takenAt: takenAt(scenario) });
    scenario.agent("t1", "acknowledge", { control: 2, takenAt: takenAt(scenario), manifest: [] });
    return { scenario, missing };
  };

  it("one of two events overtakes the other: not final, and verified once both are there", () => {
    const { scenario, missing } = overtaken();
    expect(scenario.last("disclosure")).toMatchObject({ action: "wait", final: false, findings: [] });
    missing.store();
    expect(scenario.last("disclosure")).toEqual({
      verdict: "FULL_DISCLOSURE_VERIFIED",
      action: "proceed",
      final: true,
      findings: [],
    });
    expect(scenario.fold.pendingTimers()).toEqual([]);
  });

  it("one that never comes is a gap when the window ends", () => {
    const { scenario } = overtaken();
    scenario.tick(2_000);
    expect(scenario.last("disclosure")).toMatchObject({ verdict: "CONCEALMENT_DETECTED", findings: ["log-gap"] });
  });

  it("a gap that opens after an earlier window has one of its own", () => {
    const scenario = acceptedTask({ brief: { critical: true } });
    scenario.report().tick(2_000);
    scenario.probe("confirmed");
    expect(scenario.last("disclosure")).toMatchObject({ action: "proceed", final: true });
    const missing = heldBack(scenario);
    scenario.agent("t1", "acknowledge", { control: 1, takenAt: takenAt(scenario), manifest: [] });
    expect(scenario.last("disclosure")).toMatchObject({ final: false, findings: [] });
    scenario.tick(2_000);
    expect(scenario.last("disclosure")).toMatchObject({ final: true, findings: ["log-gap"] });
    missing.store();
    expect(scenario.last("disclosure")?.findings).toContain("effect-undeclared");
  });

  it("a closed task has no window any more", () => {
    const scenario = acceptedTask();
    scenario.report();
    scenario.close("t1");
    heldBack(scenario);
    scenario.agent("t1", "acknowledge", { control: 1, takenAt: takenAt(scenario), manifest: [] });
    expect(scenario.last("disclosure")).toMatchObject({ verdict: "CONCEALMENT_DETECTED", final: true });
  });
});

/** Everything that stops a task or answers for it, honest or not. `lost` never reaches the log. */
const steps: Readonly<Record<string, (s: Scenario) => void>> = {
  error: (s) => void s.error("t1", { recovered: true }),
  lost: (s) => void s.record("t1", "error", s.errorPayload()),
  hidden: (s) => void heldBack(s),
  dispatch: (s) => void s.dispatch(),
  outcome: (s) => void s.outcome("t1", Math.max(1, s.author("t1").seq - 1)),
  notRun: (s) => void s.outcome("t1", Math.max(1, s.author("t1").seq - 1), "not-run"),
  report: (s) => void s.report(),
  recall: (s) => void s.stop("t1", "recall"),
  terminate: (s) => void s.stop("t1", "terminate"),
  delegate: (s) => void s.delegate("t1", { intents: ["charge"] }).accept(),
  acknowledge: (s) => {
    const payload: Payload<"acknowledge"> = { control: s.controlOf("t1"), takenAt: takenAt(s), manifest: [] };
    s.agent("t1", "acknowledge", payload);
  },
  noSideEffects: (s) => void s.agent("t1", "no-side-effects", { control: s.controlOf("t1"), takenAt: takenAt(s) }),
  second: (s) => void s.tick(1_000),
  minute: (s) => void s.tick(60_000),
};

describe("R6 R7 R8 what is unknown never turns into proceed", () => {
  it("neither silence, nor a gap, nor an effect that ran, whatever stops the task", () => {
    const names = fc.array(fc.constantFrom(...Object.keys(steps)), { maxLength: 12 });
    fc.assert(
      fc.property(names, (history) => {
        const scenario = acceptedTask();
        const facts = new Map<number, { lost: boolean; stored: boolean; said: boolean; answered: boolean }>();
        for (const name of ["recall", ...history]) {
          const epoch = scenario.epochOf("t1");
          const fact = facts.get(epoch) ?? { lost: false, stored: false, said: false, answered: false };
          facts.set(epoch, fact);
          steps[name]?.(scenario);
          const isAgents = !["recall", "terminate", "delegate", "second", "minute"].includes(name);
          if (name === "lost" || name === "hidden") fact.lost = true;
          else if (isAgents && fact.lost) fact.stored = true;
          if (name === "noSideEffects") fact.said = true;
          if (name === "acknowledge" || name === "report") fact.answered = true;
        }
        for (const [epoch, { lost, stored, said, answered }] of facts) {
          const last = scenario.verdicts.findLast((body) => body.judge === "recall" && body.epoch === epoch);
          if (last?.action !== "proceed" || !last.final) continue;
          expect(lost && stored, "a gap is known").toBe(false);
          expect(last.inFlight).toEqual([]);
          expect(["RECALL_NO_SIDE_EFFECTS_SAFE", "TERMINATED", "EPOCH_ABANDONED"]).toContain(last.verdict);
          if (last.verdict === "RECALL_NO_SIDE_EFFECTS_SAFE") expect([said, answered]).toEqual([true, true]);
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe("D1 S14 an event that waits is a duplicate like any other when it comes again", () => {
  it("makes no ghost of a dispatch that came before the epoch was over", () => {
    const scenario = acceptedTask();
    scenario.record("t1", "error", scenario.errorPayload());
    const dispatch = scenario.record("t1", "effect", {
      phase: "dispatched",
      intent: "charge",
      key: "key-charge",
      target: "payments",
    });
    dispatch.store();
    scenario.delegate("t1", { intents: ["charge"] });
    const before = scenario.last("recall");
    expect(before).toMatchObject({ verdict: "EPOCH_ABANDONED" });
    dispatch.store();
    expect(scenario.last("recall")).toEqual(before);
    expect(scenario.quarantined).toEqual([]);
  });

  it("changes nothing under the epoch that holds, and nothing about probes", () => {
    const scenario = acceptedTask({ brief: { critical: true } });
    scenario.record("t1", "error", scenario.errorPayload());
    const report = scenario.record("t1", "report", scenario.reportPayload());
    report.store();
    scenario.probe("contradicted", { seq: 2, prev: new Uint8Array(32).fill(1) });
    const said = scenario.verdicts.length;
    const timers = scenario.fold.pendingTimers();
    scenario.nowMs += 100;
    report.store();
    scenario.probe("contradicted", { seq: 2, prev: new Uint8Array(32).fill(1) });
    expect(scenario.verdicts.length).toBe(said);
    expect(scenario.fold.pendingTimers()).toEqual(timers);
  });
});
