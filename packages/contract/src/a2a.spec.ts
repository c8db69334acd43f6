import { describe, expect, it } from "vitest";
import { a2aStateOf, a2aTable, a2aTaskStates, phaseOfA2a, taskPhases } from "./a2a.js";
import { isCandorError } from "./errors.js";
import { reportStatuses } from "./upward-report.js";

describe("U6 A2A task states", () => {
  it("are one for each phase, there and back", () => {
    expect(new Set(taskPhases.map(a2aStateOf))).toEqual(new Set(a2aTaskStates));
    for (const phase of taskPhases) expect(phaseOfA2a(a2aStateOf(phase))).toBe(phase);
    for (const state of a2aTaskStates) expect(a2aStateOf(phaseOfA2a(state))).toBe(state);
  });

  it("hold every status of a report", () => {
    for (const status of reportStatuses) expect(taskPhases).toContain(status);
  });

  it.each([
    ["TASK_STATE_SUBMITTED", "delegated"],
    ["TASK_STATE_INPUT_REQUIRED", "blocked"],
    ["TASK_STATE_AUTH_REQUIRED", "denied-by-authority"],
    ["TASK_STATE_CANCELED", "terminated"],
  ] as const)("of version 1.0 are known too: %s", (state, phase) => {
    expect(phaseOfA2a(state)).toBe(phase);
  });

  it.each(["unknown", "TASK_STATE_UNSPECIFIED", "Completed", "constructor", "__proto__", "", "x".repeat(10_000)])(
    "fail closed: %.20s",
    (state) => {
      const refusal = (): unknown => {
        try {
          return phaseOfA2a(state);
        } catch (error) {
          return error;
        }
      };
      expect(isCandorError(refusal(), "unknown-type")).toBe(true);
    },
  );

  it("are terminal as in A2A", () => {
    const terminal = taskPhases.filter((phase) => a2aTable[phase].terminal).map(a2aStateOf);
    expect(new Set(terminal)).toEqual(new Set(["completed", "failed", "canceled", "rejected"]));
  });
});
