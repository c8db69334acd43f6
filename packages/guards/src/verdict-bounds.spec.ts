import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  decodeQuarantineBody,
  decodeVerdictBody,
  encodeQuarantineBody,
  encodeVerdictBody,
  type Payload,
} from "@candor/contract";
import { acceptedTask, type Scenario } from "../../../test/kit/scenario.js";

const mostBytes = 200 * 1024;

/** A dispatch of its own key, with texts as long as the wire lets them be. */
function longDispatch(s: Scenario, i: number, epoch?: number): number {
  const payload: Payload<"effect"> = {
    phase: "dispatched",
    intent: "ü".repeat(128),
    key: `${"k".repeat(56)}-${i}`,
    target: "ß".repeat(128),
  };
  return s.agent("t1", "effect", payload, epoch === undefined ? {} : { epoch });
}

function expectFit(s: Scenario): void {
  for (const body of s.verdicts) {
    const bytes = encodeVerdictBody(body);
    expect(bytes.length).toBeLessThan(mostBytes);
    expect(decodeVerdictBody(bytes)).toEqual(body);
  }
  for (const body of s.quarantined) expect(decodeQuarantineBody(encodeQuarantineBody(body))).toEqual(body);
}

describe("B3 one agent can't make a verdict that nobody can store or read", () => {
  it("of effects in flight: those that have room are listed, and the number of the rest is told", () => {
    const scenario = acceptedTask({ mode: "observe" });
    for (let i = 0; i < 1_200; i += 1) longDispatch(scenario, i);
    scenario.stop("t1", "terminate");
    const body = scenario.verdicts.findLast(({ judge }) => judge === "recall");
    expect(body?.verdict).toBe("TERMINATED_WITH_UNKNOWNS");
    expect((body?.inFlight?.length ?? 0) + (body?.omitted?.inFlight ?? 0)).toBe(1_200);
    expect(body?.inFlight?.length).toBeGreaterThan(50);
    expectFit(scenario);
  }, 30_000);

  it("of findings: a hostile agent's thousands, and the one that matters is listed whatever came before it", () => {
    const scenario = acceptedTask({ mode: "observe", intents: [] });
    scenario.stop("t1", "recall");
    const takenAt = scenario.author("t1").seq - 1;
    scenario.agent("t1", "no-side-effects", { control: 2, takenAt });
    const manifest = Array.from({ length: 1_000 }, (_, i) => ({
      dispatch: i + 1,
      intent: "i",
      key: `${"m".repeat(56)}-${i}`,
      target: "t",
    }));
    scenario.agent("t1", "acknowledge", { control: 2, takenAt, manifest });
    longDispatch(scenario, 1);
    const body = scenario.verdicts.at(-1);
    expect(body).toMatchObject({ verdict: "GHOST_ACTION_DETECTED", action: "halt" });
    expect(body?.findings.map(({ code }) => code)).toContain("ghost-action");
    expect(body?.omitted?.findings).toBeGreaterThan(0);
    expectFit(scenario);
  }, 30_000);

  it("in bytes that grow with what it sent, and not with the square of it", () => {
    const bytesAfter = (dispatches: number): number => {
      const scenario = acceptedTask({ intents: [] });
      for (let i = 0; i < dispatches; i += 1) longDispatch(scenario, i);
      return scenario.verdicts.reduce((sum, body) => sum + encodeVerdictBody(body).length, 0);
    };
    expect(bytesAfter(800)).toBeLessThan(3 * bytesAfter(200));
  }, 60_000);

  it("with any mix of labels, however they are cut", () => {
    const label = fc
      .array(fc.constantFrom("a", "\u{1F600}", "é"), { minLength: 50, maxLength: 64 })
      .map((characters) => characters.join(""));
    fc.assert(
      fc.property(fc.uniqueArray(label, { minLength: 1, maxLength: 12 }), (keyTasks) => {
        const scenario = acceptedTask({ brief: { keyTasks } });
        scenario.report("t1", { coverage: [] });
        for (const intent of keyTasks) {
          scenario.agent("t1", "effect", { phase: "dispatched", intent, key: "key-x", target: intent });
        }
        scenario.stop("t1", "terminate");
        expectFit(scenario);
      }),
      { numRuns: 25 },
    );
  });
});

describe("B3 what an agent says again and again", () => {
  it("forks leave the first of each fault and no more", () => {
    const scenario = acceptedTask();
    for (let i = 0; i < 300; i += 1) {
      scenario.event("error", scenario.errorPayload(), {
        task: "t1",
        actor: "agent",
        epoch: 1,
        seq: 1,
        prev: new Uint8Array(32).fill(i % 251),
      });
    }
    scenario.report();
    expect(scenario.last("disclosure")).toMatchObject({ verdict: "CONCEALMENT_DETECTED", findings: ["log-fork"] });
    expect(scenario.verdicts.filter(({ judge }) => judge === "disclosure")).toHaveLength(1);
  });
});

describe("an agent that goes on after its report", () => {
  it("costs no more for each dispatch, however many there were before", () => {
    const scenario = acceptedTask({ mode: "observe" }).report("t1", { claim: "fail" });
    let made = 0;
    const usedBy = (dispatches: number): number => {
      const before = process.cpuUsage();
      for (let i = 0; i < dispatches; i += 1) scenario.dispatch("t1", `i${(made += 1)}`);
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };
    usedBy(1_200);
    const early = usedBy(200);
    usedBy(3_600);
    expect(usedBy(200)).toBeLessThan(2.5 * early);
    expect(scenario.last("disclosure")?.findings).toContain("effect-undeclared");
  });
});
