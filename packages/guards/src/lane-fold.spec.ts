import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeVerdictBody, zeroHash } from "@candor/contract";
import { acceptedTask, fullScope, keys, Scenario } from "../../../test/kit/scenario.js";

/** Everything an agent, an orchestrator, a prober and time can do, honest or not. */
const steps: Readonly<Record<string, (s: Scenario) => void>> = {
  error: (s) => void s.error(),
  recovered: (s) => void s.error("t1", { recovered: true }),
  exhausted: (s) => void s.error("t1", { finality: "exhausted" }),
  retry: (s) => void s.retry("t1", 2, Math.max(1, s.author("t1").seq - 1)),
  dispatch: (s) => void s.dispatch(),
  outcome: (s) => void s.outcome("t1", Math.max(1, s.author("t1").seq - 1)),
  lost: (s) => void s.record("t1", "error", s.errorPayload()),
  report: (s) => void s.report(),
  failed: (s) => void s.report("t1", { claim: "fail", finishReason: "error" }),
  masked: (s) => void s.report("t1", { receipts: undefined }),
  acknowledge: (s) => void s.agent("t1", "acknowledge", { control: 2, takenAt: s.author("t1").seq - 1, manifest: [] }),
  noSideEffects: (s) => void s.agent("t1", "no-side-effects", { control: 2, takenAt: s.author("t1").seq - 1 }),
  recall: (s) => void s.stop("t1", "recall"),
  terminate: (s) => void s.stop("t1", "terminate"),
  delegate: (s) => void s.delegate("t1", { intents: ["charge"] }),
  accept: (s) => void s.accept(),
  confirmed: (s) => void s.probe("confirmed"),
  contradicted: (s) => void s.probe("contradicted"),
  second: (s) => void s.tick(1_000),
  minute: (s) => void s.tick(60_000),
  close: (s) => void s.close("t1"),
};
const history = fc.array(fc.constantFrom(...Object.keys(steps)), { maxLength: 14 });

function play(names: readonly string[], critical = false): Scenario {
  const scenario = acceptedTask({ brief: { critical } });
  for (const name of names) steps[name]?.(scenario);
  return scenario;
}

describe("B1 a lane is a function of its log", () => {
  it("gives the same verdicts, byte for byte, whenever it is folded", () => {
    fc.assert(
      fc.property(history, (names) => {
        const first = play(names);
        const again = first.replay();
        expect(again.verdicts.map(encodeVerdictBody)).toEqual(first.verdicts.map(encodeVerdictBody));
        expect(again.quarantined).toEqual(first.quarantined);
      }),
      { numRuns: 60 },
    );
  });

  it("B5 numbers the verdicts of each subject 1, 2, 3 …", () => {
    fc.assert(
      fc.property(history, (names) => {
        const next = new Map<string, number>();
        for (const { task, judge, ordinal } of play(names).verdicts) {
          const subject = `${task}.${judge}`;
          expect(ordinal).toBe((next.get(subject) ?? 0) + 1);
          next.set(subject, ordinal);
        }
      }),
      { numRuns: 60 },
    );
  });

  it("D10 R10 strict never proceeds where the reference halts or waits", () => {
    fc.assert(
      fc.property(history, fc.boolean(), (names, critical) => {
        for (const { action, reference } of play(names, critical).verdicts) {
          if (reference !== undefined && !reference.directive.startsWith("PROCEED")) expect(action).not.toBe("proceed");
        }
      }),
      { numRuns: 100 },
    );
  });
});

describe("B3 B4 what can't be folded is quarantined, with a code", () => {
  it("an event of an actor that was not delegated to", () => {
    const scenario = acceptedTask();
    scenario.event("error", scenario.errorPayload(), { task: "t1", actor: "other", epoch: 1, seq: 1, prev: zeroHash });
    scenario.event("error", scenario.errorPayload(), { task: "t9", actor: "agent", epoch: 1, seq: 1, prev: zeroHash });
    scenario.event("error", scenario.errorPayload(), { task: "t1", actor: "agent", epoch: 7, seq: 1, prev: zeroHash });
    expect(scenario.codes()).toEqual(["no-delegation", "no-delegation", "wrong-epoch"]);
  });

  it("an event of a run that was never opened", () => {
    const scenario = new Scenario();
    scenario.event("error", scenario.errorPayload(), { task: "t1", actor: "agent", epoch: 1, seq: 1, prev: zeroHash });
    expect(scenario.codes()).toEqual(["no-delegation"]);
  });

  it("events before the acceptance, and an acceptance by another key", () => {
    const scenario = new Scenario().open().delegate();
    scenario.event("error", scenario.errorPayload(), { task: "t1", actor: "agent", epoch: 1, seq: 2, prev: zeroHash });
    const delegation = scenario.hashOfLastIntent("t1");
    const stranger = keys.stranger.publicKey;
    const payload = {
      taskKey: stranger,
      certificate: new Uint8Array(64),
      delegation,
      scope: fullScope,
      mode: "enforce",
    } as const;
    scenario.event("accept", payload, {
      task: "t1",
      actor: "agent",
      epoch: 1,
      seq: 1,
      prev: zeroHash,
      signer: keys.stranger,
    });
    expect(scenario.codes()).toEqual(["untrusted-key", "untrusted-key"]);
  });

  it("a report that the task key did not sign, and a subject that names another task", () => {
    const scenario = acceptedTask();
    const { seq, head } = scenario.author("t1");
    const at = { task: "t1", actor: "agent", epoch: 1, seq, prev: head };
    scenario.event("report", scenario.reportPayload(), { ...at, signer: keys.stranger });
    scenario.event("error", scenario.errorPayload(), { ...at, subjectTask: "t2" });
    scenario.store("candor.log.0.r1.t1.agent.agent.error", Uint8Array.of(0, 0xc1));
    expect(scenario.codes()).toEqual(["bad-signature", "subject-mismatch", "malformed"]);
    expect(scenario.quarantined.map(({ seq: at }) => at)).toEqual(scenario.log.slice(-3).map(({ seq: at }) => at));
    scenario.report();
    expect(scenario.last("disclosure")?.verdict).toBe("FULL_DISCLOSURE_VERIFIED");
  });

  it("a prober that the run does not trust, a receipt by another key and one without a signature", () => {
    const scenario = acceptedTask({ brief: { critical: true } });
    scenario.probe("confirmed", { actor: "unknown" });
    scenario.probe("confirmed", { signer: keys.stranger });
    scenario.probe("confirmed", { signed: false });
    expect(scenario.codes()).toEqual(["untrusted-key", "bad-signature", "unsigned"]);
    scenario.report().tick(2_000);
    expect(scenario.last("disclosure")?.findings).toEqual(["probe-missing"]);
  });

  it("an opening that the operator did not certify", () => {
    const scenario = new Scenario().open(keys.stranger).delegate();
    expect(scenario.codes()).toEqual(["untrusted-key", "no-delegation"]);
    expect(scenario.verdicts).toEqual([]);
  });
});

describe("closed tasks", () => {
  it("leave memory, and a late event is judged from history, within a budget of each actor", () => {
    const scenario = acceptedTask({ policy: { lateEventsPerActor: 2 } });
    scenario.report();
    scenario.close("t1");
    expect(scenario.fold.openTasks).toBe(0);
    scenario.dispatch();
    expect(scenario.last("recall")?.verdict).toBe("GHOST_ACTION_DETECTED");
    expect(scenario.fold.openTasks).toBe(0);
    scenario.error();
    scenario.error();
    scenario.error();
    expect(scenario.codes()).toEqual(["wrong-epoch", "wrong-epoch"]);
    expect(scenario.replay().verdicts).toEqual(scenario.verdicts);
  });

  it("closing a run judges what is open and forgets the run; a late event is still judged", () => {
    const scenario = acceptedTask();
    scenario.intent("_run", "run-close", { state: "completed" });
    expect(scenario.last("disclosure")?.findings).toEqual(["report-missing"]);
    expect(scenario.fold.policyHashes()).toEqual([]);
    scenario.report();
    expect(scenario.last("disclosure")?.verdict).toBe("FULL_DISCLOSURE_VERIFIED");
    expect(scenario.fold.policyHashes()).toEqual([]);
    scenario.intent("_run", "run-close", { state: "completed" });
    expect(scenario.last("intent", "_run")?.findings).toEqual(["intent-stale"]);
  });
});

describe("R3 with its run a task is over", () => {
  it("though nobody closed it: a dispatch that comes later is a ghost, also behind a gap", () => {
    for (const skips of [false, true]) {
      const scenario = acceptedTask({ policy: { lateEventsPerActor: 1 } });
      scenario.report();
      scenario.intent("_run", "run-close", { state: "completed" });
      expect(scenario.last("recall")).toBeUndefined();
      if (skips) scenario.record("t1", "error", scenario.errorPayload());
      for (let i = 0; i < 3; i += 1) scenario.error();
      scenario.dispatch();
      expect(scenario.last("recall")).toMatchObject({ verdict: "GHOST_ACTION_DETECTED", action: "halt" });
      expect(scenario.replay().verdicts).toEqual(scenario.verdicts);
    }
  });
});

describe("keys are trusted by log time", () => {
  it("a revoked prober key no longer counts, and one added instead does", () => {
    const scenario = acceptedTask({ brief: { critical: true } });
    scenario.intent("_run", "key-revoked", { key: keys.prober.publicKey, reason: "lost" });
    scenario.probe("confirmed");
    expect(scenario.codes()).toEqual(["untrusted-key"]);
    scenario.trust("prober", keys.stranger.publicKey);
    scenario.probe("confirmed", { signer: keys.stranger });
    scenario.report();
    expect(scenario.last("disclosure")?.verdict).toBe("FULL_DISCLOSURE_VERIFIED");
  });
});
