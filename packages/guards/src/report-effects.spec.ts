import { describe, expect, it } from "vitest";
import { acceptedTask, type Scenario } from "../../../test/kit/scenario.js";

/** A report whose effects went along with the receipts, all or all but the last. */
function reportApart(s: Scenario, left: number): void {
  const { receipts, effects } = s.reportPayload();
  const told = effects.slice(0, effects.length - left);
  s.report("t1", { effects: [], ...(receipts === undefined ? {} : { receipts: { ...receipts, effects: told } }) });
}

describe("D9 effects of a report that go along with its receipts", () => {
  it.each([
    [0, "FULL_DISCLOSURE_VERIFIED", []],
    [1, "CONCEALMENT_DETECTED", ["effect-undeclared"]],
  ])("are what it owns up to: %i left out", (left, verdict, findings) => {
    const s = acceptedTask({ intents: ["charge", "mail"] });
    for (const intent of ["charge", "mail"]) s.outcome("t1", s.dispatch("t1", intent), "committed", intent);
    reportApart(s, left);
    expect(s.last("disclosure")).toMatchObject({ verdict, findings });
  });

  it("are told in one place: one that stands in both is told twice", () => {
    const s = acceptedTask();
    s.outcome("t1", s.dispatch());
    const { receipts, effects } = s.reportPayload();
    const lie = effects.map((effect) => ({ ...effect, phase: "failed" as const }));
    s.report("t1", { effects: lie, ...(receipts === undefined ? {} : { receipts: { ...receipts, effects } }) });
    expect(s.last("disclosure")).toMatchObject({ action: "halt" });
  });
});
