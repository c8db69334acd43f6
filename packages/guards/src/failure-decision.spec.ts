import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  actions,
  behaviourActions,
  defaultFailurePolicy,
  errorTypes,
  finalities,
  type ErrorType,
  type Policy,
} from "@candor/contract";
import { acceptedTask, plainBrief, Scenario } from "../../../test/kit/scenario.js";
import { decideFailure, decideFailures } from "./failure-decision.js";

const facts = fc.record({ type: fc.constantFrom(...errorTypes), finality: fc.constantFrom(...finalities) });

describe("F1 F5 decideFailure", () => {
  it("answers for everything, with an action that fits the severity's behaviour", () => {
    fc.assert(
      fc.property(facts, fc.boolean(), (failure, needed) => {
        const { behaviour, action } = decideFailure(failure, needed, defaultFailurePolicy);
        expect(behaviourActions[behaviour]).toContain(action);
      }),
    );
  });

  it("is never milder for one more failure, and the same in any order", () => {
    fc.assert(
      fc.property(fc.array(facts, { minLength: 1 }), facts, fc.boolean(), (some, more, needed) => {
        const before = decideFailures(some, needed, defaultFailurePolicy);
        const after = decideFailures([...some, more], needed, defaultFailurePolicy);
        expect(actions.indexOf(after?.action ?? "proceed")).toBeGreaterThanOrEqual(
          actions.indexOf(before?.action ?? "proceed"),
        );
        expect(decideFailures([more, ...some].reverse(), needed, defaultFailurePolicy)?.action).toBe(after?.action);
      }),
    );
  });

  it("says nothing of no failure", () => {
    expect(decideFailures([], true, defaultFailurePolicy)).toBeUndefined();
  });
});

const failed = { claim: "fail", finishReason: "error", work: { calls: 1, succeeded: 0 } } as const;

function failing(type: ErrorType, options: Parameters<typeof acceptedTask>[0] = {}): Scenario {
  const s = acceptedTask(options);
  s.agent("t1", "error", { ...s.errorPayload({ finality: "exhausted" }), type });
  return s.report("t1", failed, { brief: { ...plainBrief, ...options.brief } });
}

describe("F5 the guard's action for an honest failure is the policy's", () => {
  it.each(errorTypes.map((type) => [type, defaultFailurePolicy.rows[type].exhausted] as const))(
    "%s",
    (type, { needed, optional }) => {
      expect(failing(type).last("disclosure")).toMatchObject({
        verdict: "FULL_DISCLOSURE_VERIFIED",
        action: needed.action,
      });
      expect(failing(type, { brief: { resultNeeded: false } }).last("disclosure")).toMatchObject({
        action: optional.action,
      });
    },
  );

  it("counts every failure that nothing recovered, whatever the agent tells last", () => {
    const s = acceptedTask();
    s.agent("t1", "error", { ...s.errorPayload({ finality: "exhausted" }), type: "defect" });
    s.error("t1", { finality: "exhausted" });
    expect(s.report("t1", failed).last("disclosure")).toMatchObject({ action: "halt" });
  });

  it("B1 a replay uses the policy that was in force, and comes to the same verdicts", () => {
    const { rows } = defaultFailurePolicy;
    const exhausted = { ...rows.denied.exhausted, needed: { severity: "high", action: "escalate" } } as const;
    const failures = { ...defaultFailurePolicy, rows: { ...rows, denied: { ...rows.denied, exhausted } } };
    const s = failing("denied", { policy: { failures } });
    expect(s.last("disclosure")).toMatchObject({ action: "escalate" });
    expect(s.replay().verdicts).toEqual(s.verdicts);
  });

  it("a run that was opened before policies had failures is judged as it was then", () => {
    const severity = Object.fromEntries(errorTypes.map((type) => [type, "low"])) as Policy["severity"];
    const s = failing("defect", { policy: { failures: undefined, severity } as unknown as Policy });
    expect(s.last("disclosure")).toMatchObject({ verdict: "FULL_DISCLOSURE_VERIFIED", action: "redispatch" });
  });

  it("F9 refuses a run whose policy does not hold, and names the field", () => {
    const { rows } = defaultFailurePolicy;
    const s = new Scenario({
      policy: { failures: { ...defaultFailurePolicy, rows: { ...rows, defect: rows.denied } } },
    });
    s.open().delegate("t1");
    expect(s.verdicts).toEqual([]);
    expect(s.quarantined[0]).toMatchObject({ code: "malformed", path: "payload.policy.failures.rows.defect" });
  });
});
