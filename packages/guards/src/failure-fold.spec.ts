import { describe, expect, it } from "vitest";
import { failureLimits, type FailureStatement, type Payload } from "@candor/contract";
import { createSeed, createSigner } from "@candor/ledger";
import { FamilyScenario } from "../../../test/kit/family-scenario.js";

const verified = { verdict: "FULL_DISCLOSURE_VERIFIED", findings: [] };
const lookup = { operation: "lookup" } as const;

/** The last verdict on the disclosure of a task, with the failure in it. */
const failureOf = (s: FamilyScenario, task: string) =>
  s.verdicts.filter((verdict) => verdict.judge === "disclosure" && verdict.task === task).at(-1);

/** Leaf and middle fail honestly; the root is still at work. */
function passedToMiddle(): { s: FamilyScenario; leaf: Uint8Array; middle: Uint8Array } {
  const s = new FamilyScenario().three();
  const leaf = s.failed("leaf");
  const middle = s.passes("middle", { task: "leaf", previous: leaf, origin: leaf });
  return { s, leaf, middle };
}

describe("F8 a failure that passes three layers", () => {
  it("comes up typed, with its origin, each layer's deed, and the downgrade", () => {
    const { s, leaf, middle } = passedToMiddle();
    const deed = { task: "middle", previous: middle, origin: leaf, did: "downgraded" } as const;
    const root = s.passes("root", deed, "partial", "recoverable");
    for (const task of ["leaf", "middle", "root"]) expect(s.last("disclosure", task)).toMatchObject(verified);
    const verdict = failureOf(s, "root");
    expect(verdict).toMatchObject({ verdict: "FULL_DISCLOSURE_VERIFIED", action: "verify", final: true });
    expect(verdict?.failure).toMatchObject({
      task: "root",
      hash: root,
      type: "partial",
      severity: "medium",
      origin: { task: "leaf", hash: leaf, type: "unavailable", finality: "exhausted" },
      layers: [
        { task: "middle", did: "passed", says: { type: "unavailable" }, downgraded: false, hash: middle },
        { task: "root", did: "downgraded", saw: { type: "unavailable" }, says: { type: "partial" }, downgraded: true },
      ],
    });
    expect(s.replay().verdicts).toEqual(s.verdicts);
  });

  it("is shown as downgraded by the policy, whatever the layer calls it", () => {
    const { s, leaf, middle } = passedToMiddle();
    const deed = { task: "middle", previous: middle, origin: leaf, did: "translated" } as const;
    s.passes("root", deed, "partial", "recoverable");
    expect(failureOf(s, "root")?.failure?.layers.at(-1)).toMatchObject({ did: "translated", downgraded: true });
  });

  it("that a layer recovers from is an error of a success", () => {
    const { s, leaf, middle } = passedToMiddle();
    const hop = s.hop({ task: "middle", previous: middle, origin: leaf, did: "recovered" });
    s.fails("root", "unavailable", "exhausted", { hop, recovered: true });
    s.report("root");
    expect(s.last("disclosure", "root")).toMatchObject({ ...verified, action: "proceed" });
    expect(failureOf(s, "root")?.failure).toBeUndefined();
  });
});

describe("F8 a hop that is not as it should be", () => {
  const other = new Uint8Array(32).fill(7);
  type Bend = (chain: { leaf: Uint8Array; middle: Uint8Array }) => Parameters<FamilyScenario["passes"]>[1];
  const cases: readonly (readonly [name: string, finding: string, bend: Bend])[] = [
    [
      "says that it saw something else",
      "hop-rewritten",
      ({ leaf, middle }) => ({
        task: "middle",
        previous: middle,
        origin: leaf,
        saw: { type: "transient", finality: "exhausted" },
      }),
    ],
    [
      "names an event that nobody wrote",
      "hop-rewritten",
      ({ leaf }) => ({ task: "middle", previous: other, origin: leaf }),
    ],
    ["names another origin", "hop-rewritten", ({ middle }) => ({ task: "middle", previous: middle, origin: other })],
    [
      "names a task that it did not delegate",
      "hop-rewritten",
      ({ leaf }) => ({ task: "leaf", previous: leaf, origin: leaf }),
    ],
    [
      "names another epoch",
      "hop-rewritten",
      ({ leaf, middle }) => ({ task: "middle", previous: middle, origin: leaf, epoch: 2 }),
    ],
    [
      "says that it recovered, and fails",
      "hop-rewritten",
      ({ leaf, middle }) => ({ task: "middle", previous: middle, origin: leaf, did: "recovered" }),
    ],
    [
      "goes by the word of the layer before the last",
      "hop-reordered",
      ({ leaf }) => ({ task: "middle", previous: leaf, origin: leaf }),
    ],
  ];
  it.each(cases)("%s: %s", (_, finding, bend) => {
    const { s, leaf, middle } = passedToMiddle();
    s.passes("root", bend({ leaf, middle }));
    const found = s.last("disclosure", "root");
    expect(found).toMatchObject({ verdict: "CONCEALMENT_DETECTED", action: "halt" });
    expect(found?.findings).toContain(finding);
    expect(s.replay().verdicts).toEqual(s.verdicts);
  });

  it("says passed, and something else: hop-rewritten", () => {
    const { s, leaf, middle } = passedToMiddle();
    s.passes("root", { task: "middle", previous: middle, origin: leaf }, "partial", "recoverable");
    expect(s.last("disclosure", "root")).toMatchObject({ action: "halt", findings: ["hop-rewritten"] });
  });

  it("is left out of a failure: hop-dropped, and somebody looks at it", () => {
    const { s } = passedToMiddle();
    s.failed("root", "denied", "not-mine");
    expect(s.last("disclosure", "root")).toMatchObject({
      verdict: "PARTIAL_DISCLOSURE_RISK",
      action: "escalate",
      findings: ["hop-dropped"],
    });
  });

  it("S22 is left out of a success: that is concealment", () => {
    const { s } = passedToMiddle();
    s.report("root");
    expect(s.last("disclosure", "root")).toMatchObject({
      verdict: "CONCEALMENT_DETECTED",
      findings: ["hop-dropped", "unrecovered-under-success"],
    });
  });

  it("is not signed itself: refused", () => {
    const { s, leaf, middle } = passedToMiddle();
    const payload: Payload<"error"> = {
      ...s.errorPayload(),
      hop: s.hop({ task: "middle", previous: middle, origin: leaf }),
    };
    const { seq, head } = s.author("root");
    s.event("error", payload, { task: "root", actor: "agent", epoch: 1, seq, prev: head });
    expect(s.quarantined.at(-1)).toMatchObject({ code: "unsigned" });
  });
});

describe("D8 whoever delegates parts", () => {
  it("is not blamed for what it could not say any more", () => {
    const { s } = passedToMiddle();
    s.stop("root", "recall");
    s.report("root", { claim: "none", finishReason: "recalled" });
    expect(s.last("disclosure", "root")?.findings).toEqual([]);
  });

  it("owes nothing for a part that was delegated anew and succeeded", () => {
    const { s } = passedToMiddle();
    s.part("middle", { by: "planners", of: "root" }).accept("middle").report("middle");
    s.report("root");
    expect(s.last("disclosure", "root")).toMatchObject({ ...verified, action: "proceed" });
  });

  it("waits for its parts, or ends them", () => {
    const open = new FamilyScenario().three();
    open.report("root");
    expect(open.last("disclosure", "root")).toMatchObject({ action: "verify", findings: ["child-without-report"] });
    const ended = new FamilyScenario().three().closePart("middle", "planners");
    ended.report("root");
    expect(ended.last("disclosure", "root")).toMatchObject(verified);
  });

  it("B8 is judged the same when it is closed and something comes late", () => {
    const { s, leaf, middle } = passedToMiddle();
    s.passes("root", { task: "middle", previous: middle, origin: leaf });
    s.closePart("middle", "planners").close("root");
    const before = s.verdicts.length;
    s.dispatch("root");
    expect(s.last("recall", "root")).toMatchObject({ verdict: "GHOST_ACTION_DETECTED" });
    expect(s.verdicts.slice(before).flatMap(({ findings }) => findings.map(({ code }) => code))).not.toContain(
      "hop-rewritten",
    );
    s.dispatch("middle");
    expect(s.last("recall", "middle")).toMatchObject({ verdict: "GHOST_ACTION_DETECTED" });
    expect(s.replay().verdicts).toEqual(s.verdicts);
  });
});

describe("F2 F3 F6 F9 the failure that a report owns up to", () => {
  it("carries tries, effects and wait to whoever delegated the task, and no prose", () => {
    const s = new FamilyScenario().three();
    const dispatch = s.dispatch("leaf");
    s.outcome("leaf", dispatch);
    const first = s.fails("leaf", "transient", "recoverable", { upstream: "books" });
    s.retry("leaf", 2, first.seq, "failed");
    const attempts = [{ attempt: 1, reason: first.seq, delayMs: 5 }];
    const last = s.fails("leaf", "transient", "exhausted", {
      upstream: "books",
      attempt: 2,
      attempts,
      unverifiedHint: new Uint8Array([1]),
    });
    s.reportsFailure("leaf", {
      ...s.statement("leaf", last, "transient"),
      upstream: "books",
      attempt: 2,
      attempts,
      retryAfterMs: 90_000,
    });
    const failure = failureOf(s, "leaf")?.failure;
    expect(failure).toMatchObject({
      task: "leaf",
      epoch: 1,
      actor: "agent",
      ...lookup,
      upstream: "books",
      attempt: 2,
      attempts: [{ attempt: 1, type: "transient" }],
      effects: [{ intent: "charge", key: "key-charge" }],
      retryAfterMs: 90_000,
      layers: [],
    });
    expect(Object.keys(failure ?? {})).not.toContain("unverifiedHint");
  });

  it("S22 carries what the task had found by then, without labels, and how much more there is", () => {
    const s = new FamilyScenario().three();
    const pieces = Array.from({ length: failureLimits.evidence + 2 }, (_, i) => ({
      actor: "agent",
      hash: new Uint8Array(32).fill(i),
      size: i,
      label: new Uint8Array([1]),
    }));
    const error = s.fails("leaf");
    s.reportsFailure("leaf", s.statement("leaf", error), { evidence: pieces });
    const failure = failureOf(s, "leaf")?.failure;
    expect(failure?.evidence).toEqual(
      pieces.slice(0, failureLimits.evidence).map(({ actor, hash, size }) => ({ actor, hash, size })),
    );
    expect(failure?.evidenceOmitted).toBe(2);
    expect(s.replay().verdicts).toEqual(s.verdicts);
  });

  type Bend = (statement: FailureStatement, first: { seq: number; hash: Uint8Array }) => Partial<FailureStatement>;
  const lies: readonly (readonly [string, Bend])[] = [
    ["a milder type", () => ({ type: "transient" })],
    ["another finality", () => ({ finality: "recoverable" })],
    ["another upstream", () => ({ upstream: "somebody-else" })],
    ["another operation", () => ({ operation: "charge" })],
    ["an error that was recovered", (_, first) => ({ error: first.seq, hash: first.hash })],
    ["an error that there is not", () => ({ error: 99 })],
    ["the hash of another event", (_, first) => ({ hash: first.hash })],
    ["a try that there was not", () => ({ attempts: [{ attempt: 1, reason: 2, delayMs: 0 }] })],
    ["an effect that did not happen", () => ({ effects: [{ intent: "charge", key: "key-other", identifiers: {} }] })],
    ["an effect fewer", () => ({ effects: [] })],
    ["more effects than there are", () => ({ effectsOmitted: 3 })],
  ];
  it.each(lies)("is found to be none of the log's: %s", (_, bend) => {
    const s = new FamilyScenario().three();
    const dispatch = s.dispatch("leaf");
    s.outcome("leaf", dispatch);
    const first = s.fails("leaf");
    s.retry("leaf", 2, first.seq);
    const last = s.fails("leaf");
    const statement = s.statement("leaf", last);
    s.reportsFailure("leaf", { ...statement, ...bend(statement, first) });
    expect(s.last("disclosure", "leaf")).toMatchObject({ action: "halt", findings: ["failure-mismatch"] });
    expect(failureOf(s, "leaf")?.failure).toBeUndefined();
  });

  it("may be left out, as it was before there was one", () => {
    const s = new FamilyScenario().three();
    s.fails("leaf");
    s.report("leaf", { claim: "fail", finishReason: "error" });
    expect(s.last("disclosure", "leaf")).toMatchObject({ ...verified, action: "redispatch" });
    expect(failureOf(s, "leaf")?.failure).toBeUndefined();
  });
});

describe("R9 sub-fleets", () => {
  it("delegate parts only of the task that names them, while it is in the hands that they say", () => {
    const s = new FamilyScenario().part("root", { subFleet: "planners" }).accept("root");
    s.part("a", { by: "strangers", of: "root" });
    s.part("b", { by: "workers", of: "root" });
    expect(s.codes()).toEqual(["no-delegation", "no-delegation"]);
    s.part("c", { by: "planners", of: "root", parent: { fleet: "strangers" } });
    expect(s.last("intent", "c")).toMatchObject({ findings: ["intent-contradictory"] });
    s.part("d", { by: "planners", of: "root", parent: { opener: "strangers" } });
    expect(s.last("intent", "d")).toMatchObject({ findings: ["intent-contradictory"] });
    s.stop("root", "recall");
    s.part("e", { by: "planners", of: "root" });
    expect(s.last("intent", "e")).toMatchObject({ findings: ["intent-stale"] });
    expect(s.replay().verdicts).toEqual(s.verdicts);
  });

  it("have no say in tasks of others, nor others in theirs", () => {
    const s = new FamilyScenario().three();
    s.stop("root", "recall", { bend: { actor: "planners" } });
    expect(s.last("intent", "root")).toMatchObject({ findings: ["intent-foreign"] });
    s.stop("middle", "recall");
    expect(s.last("intent", "middle")).toMatchObject({ findings: ["intent-foreign"] });
  });

  it("count only if the operator certified them", () => {
    const s = new FamilyScenario();
    s.part("root", { subFleet: "planners", certifier: createSigner(createSeed()) });
    expect(s.last("intent", "root")).toMatchObject({ findings: ["intent-foreign"] });
    s.part("root", { subFleet: "fleet" });
    expect(s.last("intent", "root")).toMatchObject({ findings: ["intent-contradictory"] });
  });

  it("a part of nothing, and a task of the run's fleet that says it is one, are refused", () => {
    const s = new FamilyScenario();
    s.part("a", { of: "root", parent: { epoch: 1 } });
    expect(s.last("intent", "a")).toMatchObject({ findings: ["intent-contradictory"] });
  });
});
