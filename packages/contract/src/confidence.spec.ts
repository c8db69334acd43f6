import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { completionConfidence, type ConfidenceFacts } from "./confidence.js";
import { coverageStates, finalities } from "./vocabulary.js";

const tasks = ["a", "b", "c"];
const error = fc.record({ finality: fc.constantFrom(...finalities), recovered: fc.boolean() });
const facts: fc.Arbitrary<ConfidenceFacts> = fc.record({
  errors: fc.array(error, { maxLength: 8 }),
  retries: fc.nat(10),
  coverage: fc.uniqueArray(
    fc.record({ task: fc.constantFrom(...tasks, "d"), state: fc.constantFrom(...coverageStates) }),
    { selector: ({ task }) => task },
  ),
  keyTasks: fc.subarray(tasks),
  caveats: fc.nat(5),
});
/** All key tasks done, nothing else happened. */
const clean: ConfidenceFacts = {
  errors: [],
  retries: 0,
  coverage: tasks.map((task) => ({ task, state: "done" })),
  keyTasks: tasks,
  caveats: 0,
};
/** The smallest difference that four places show. */
const step = 1e-4;

describe("D3 completion confidence", () => {
  it("is the worked example of its docstring", () => {
    const score = completionConfidence({
      errors: [{ finality: "recoverable", recovered: true }],
      retries: 1,
      coverage: [
        { task: "lookup", state: "done" },
        { task: "charge", state: "done" },
      ],
      keyTasks: ["lookup", "charge"],
      caveats: 1,
    });
    expect(score).toBe(0.9123);
  });

  it.each([
    ["one caveat", { caveats: 1 }, 0.95],
    ["one recovered error", { errors: [{ finality: "exhausted", recovered: true }] }, 0.97],
    ["one retry", { retries: 1 }, 0.99],
    ["an error that could still be put right", { errors: [{ finality: "recoverable", recovered: false }] }, 0.7],
    ["an error that is not its own", { errors: [{ finality: "not-mine", recovered: false }] }, 0.6],
    ["an error that ended it", { errors: [{ finality: "exhausted", recovered: false }] }, 0.5],
    ["one of three tasks partial", { coverage: [...clean.coverage.slice(1), { task: "a", state: "partial" }] }, 0.8333],
    ["one of three tasks left out", { coverage: clean.coverage.slice(1) }, 0.6667],
    ["no key task named", { keyTasks: [], coverage: [] }, 1],
    ["nothing covered", { coverage: [] }, 0],
  ] satisfies [string, Partial<ConfidenceFacts>, number][])("%s", (_, change, score) => {
    expect(completionConfidence({ ...clean, ...change })).toBe(score);
  });

  it("is 1 minus the cost of the caveats for full coverage without errors, and they cost no more than 5 % each", () => {
    fc.assert(
      fc.property(fc.nat(200), (caveats) => {
        const score = completionConfidence({ ...clean, caveats });
        expect(score).toBeCloseTo(0.95 ** caveats, 3);
        expect(score).toBeGreaterThanOrEqual(1 - 0.05 * caveats - step);
      }),
    );
  });

  it("stays in 0..1, and is the same in whatever order errors and coverage come", () => {
    fc.assert(
      fc.property(facts, (all) => {
        const score = completionConfidence(all);
        expect(score).toBeGreaterThanOrEqual(0);
        expect(score).toBeLessThanOrEqual(1);
        const { errors, coverage } = all;
        const turned = { ...all, errors: [...errors].reverse(), coverage: [...coverage].reverse() };
        expect(completionConfidence(turned)).toBe(score);
      }),
    );
  });

  it("more unrecovered errors never raise it, nor do more errors, retries or caveats of any kind", () => {
    fc.assert(
      fc.property(
        facts,
        fc.array(error, { maxLength: 5 }),
        fc.nat(5),
        fc.nat(5),
        (before, errors, retries, caveats) => {
          const after = completionConfidence({
            ...before,
            errors: [...before.errors, ...errors],
            retries: before.retries + retries,
            caveats: before.caveats + caveats,
          });
          expect(after).toBeLessThanOrEqual(completionConfidence(before));
        },
      ),
    );
  });

  it("a recovered error never lowers it as much as an unrecovered one", () => {
    fc.assert(
      fc.property(facts, fc.constantFrom(...finalities), fc.constantFrom(...finalities), (before, one, other) => {
        const score = completionConfidence(before);
        const recovered = completionConfidence({
          ...before,
          errors: [...before.errors, { finality: one, recovered: true }],
        });
        const unrecovered = completionConfidence({
          ...before,
          errors: [...before.errors, { finality: other, recovered: false }],
        });
        expect(recovered).toBeGreaterThanOrEqual(unrecovered);
        // Where four places can show a difference at all, there is one.
        if (score >= 10 * step) expect(recovered).toBeGreaterThan(unrecovered);
      }),
    );
  });

  it("doing more of a key task never lowers it", () => {
    fc.assert(
      fc.property(facts, fc.constantFrom(...tasks), (before, task) => {
        const others = before.coverage.filter((one) => one.task !== task);
        const scores = (["failed", "skipped", "partial", "done"] as const).map((state) =>
          completionConfidence({ ...before, coverage: [...others, { task, state }] }),
        );
        expect([...scores].sort((a, b) => a - b)).toEqual(scores);
      }),
    );
  });
});
