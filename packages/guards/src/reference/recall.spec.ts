import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { evaluateRecallReference, type ReferenceRecallState } from "./recall.js";

const quiet: ReferenceRecallState = {
  subagentId: "payer",
  recallIntentSequence: 3n,
  recallIntentEpoch: 1792022400.5,
  inFlightActions: [],
  completionGraceRemainingSec: 30,
  noSideEffectsReceipt: null,
  currentEpoch: 1792022410,
};

interface Case {
  readonly given: string;
  readonly state: Partial<ReferenceRecallState>;
  readonly maxGraceSec: number;
  readonly verdict: string;
  readonly directive: string;
  readonly manifest: string;
}

const activeManifest = '{"epoch": "1792022400", "sequence": "3", "subagent": "payer"}';

const cases: readonly Case[] = [
  {
    given: "a receipt, nothing in flight, an excessive grace",
    state: { noSideEffectsReceipt: "r\n", completionGraceRemainingSec: 1e9 },
    maxGraceSec: 60,
    verdict: "RECALL_NO_SIDE_EFFECTS_SAFE",
    directive: "PROCEED: No side effects, recall safe to complete.",
    manifest: '{"receipt": "r\\n", "sequence": "3", "subagent": "payer"}',
  },
  {
    given: "a receipt and an action in flight",
    state: { noSideEffectsReceipt: "r", inFlightActions: ["pay"], completionGraceRemainingSec: 2.5 },
    maxGraceSec: 60,
    verdict: "RECALL_INFLIGHT_ACTIONS_PENDING",
    directive: "WAIT: 1 actions in flight. 2s grace remaining.",
    manifest: "IN_FLIGHT:1",
  },
  {
    given: "actions in flight and an endless grace",
    state: { inFlightActions: ["pay", "mail"], completionGraceRemainingSec: Infinity },
    maxGraceSec: 60,
    verdict: "RECALL_INFLIGHT_ACTIONS_PENDING",
    directive: "WAIT: 2 actions in flight. infs grace remaining.",
    manifest: "IN_FLIGHT:2",
  },
  {
    given: "an action in flight and negative zero grace",
    state: { inFlightActions: [""], completionGraceRemainingSec: -0 },
    maxGraceSec: -1,
    verdict: "RECALL_COMPLETION_GRACE_EXPIRED",
    directive: "HALT: Grace expired with 1 actions possibly still completing. Reconcile.",
    manifest: "GRACE_EXPIRED:1",
  },
  {
    given: "an action in flight and a grace that is not a number",
    state: { inFlightActions: ["pay"], completionGraceRemainingSec: NaN },
    maxGraceSec: 60,
    verdict: "RECALL_COMPLETION_GRACE_EXPIRED",
    directive: "HALT: Grace expired with 1 actions possibly still completing. Reconcile.",
    manifest: "GRACE_EXPIRED:1",
  },
  {
    given: "an excessive grace past the digits of String",
    state: { completionGraceRemainingSec: 1e23 },
    maxGraceSec: -0.4,
    verdict: "RECALL_INFLIGHT_ACTIONS_PENDING",
    directive: "HALT: Declared grace 99999999999999991611392s > max -0s.",
    manifest: "GRACE_TOO_LONG:99999999999999991611392",
  },
  {
    given: "a grace equal to the maximum",
    state: { completionGraceRemainingSec: 60 },
    maxGraceSec: 60,
    verdict: "RECALL_ACTIVE",
    directive: "PROCEED: Recall active, no side effects detected.",
    manifest: activeManifest,
  },
  {
    given: "a maximum that is not a number",
    state: { completionGraceRemainingSec: Infinity },
    maxGraceSec: NaN,
    verdict: "RECALL_ACTIVE",
    directive: "PROCEED: Recall active, no side effects detected.",
    manifest: activeManifest,
  },
  {
    given: "an empty receipt",
    state: { noSideEffectsReceipt: "" },
    maxGraceSec: 60,
    verdict: "RECALL_ACTIVE",
    directive: "PROCEED: Recall active, no side effects detected.",
    manifest: activeManifest,
  },
  {
    given: "a sequence far past 2^53 and an identifier with a lone surrogate",
    state: { recallIntentSequence: -(10n ** 40n) - 1n, subagentId: "\udc00" },
    maxGraceSec: 60,
    verdict: "RECALL_ACTIVE",
    directive: "PROCEED: Recall active, no side effects detected.",
    manifest: `{"epoch": "1792022400", "sequence": "-1${"0".repeat(39)}1", "subagent": "\\udc00"}`,
  },
];

describe("R10 reference recall", () => {
  it.each(cases)("given $given: $verdict", ({ state, maxGraceSec, verdict, directive, manifest }) => {
    expect(evaluateRecallReference({ ...quiet, ...state }, { maxGraceSec })).toEqual({
      verdict,
      outcome: directive.slice(0, directive.indexOf(":")).toLowerCase(),
      directive,
      manifestDigest: createHash("sha256").update(manifest).digest("hex"),
    });
  });

  it("never proceeds with an action in flight, whatever else is said", () => {
    const states = fc.record({
      subagentId: fc.string(),
      recallIntentSequence: fc.bigInt(),
      recallIntentEpoch: fc.double(),
      inFlightActions: fc.array(fc.string(), { minLength: 1 }),
      completionGraceRemainingSec: fc.double(),
      noSideEffectsReceipt: fc.option(fc.string()),
      currentEpoch: fc.double(),
    });
    fc.assert(
      fc.property(states, fc.double(), (state, maxGraceSec) => {
        const { directive } = evaluateRecallReference(state, { maxGraceSec });
        expect(directive.startsWith(state.completionGraceRemainingSec > 0 ? "WAIT:" : "HALT:")).toBe(true);
      }),
    );
  });

  it("does not depend on the current time", () => {
    fc.assert(
      fc.property(fc.double(), (currentEpoch) => {
        const policy = { maxGraceSec: 60 };
        expect(evaluateRecallReference({ ...quiet, currentEpoch }, policy)).toEqual(
          evaluateRecallReference(quiet, policy),
        );
      }),
    );
  });
});
