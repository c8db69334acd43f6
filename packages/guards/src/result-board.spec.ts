import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runTask, type Payload, type VerdictBody } from "@candor/contract";
import { acceptedTask, type Scenario } from "../../../test/kit/scenario.js";
import { decision } from "./decision.js";
import { concerns, ResultBoard, type BoardedResult } from "./result-board.js";

type Claim = "pass" | "fail" | "unsure";

const bytes = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);

function review(
  scenario: Scenario,
  task: string,
  claim: Claim,
  examines: readonly string[],
  evidence: Payload<"report">["evidence"] = [],
): void {
  scenario.delegate(task, { brief: { examines: [...examines] } }).accept(task);
  scenario.report(task, { claim, ...(evidence.length === 0 ? {} : { evidence }) });
}

/** Reviews of the same thing, each a task of its own. */
function reviewed(...claims: readonly (readonly [Claim, readonly string[]])[]): Scenario {
  const scenario = acceptedTask();
  for (const [index, [claim, examines]] of claims.entries()) review(scenario, `r${index}`, claim, examines);
  return scenario;
}

const ofRun = (scenario: Scenario): VerdictBody[] =>
  scenario.verdicts.filter(({ judge, task }) => judge === "result" && task === runTask);

describe("T4 parallel results", () => {
  it("opposite claims about the same thing are in conflict: pair, thing and evidence are named", () => {
    const scenario = acceptedTask();
    const piece = (byte: number) => ({ actor: "agent", hash: bytes(byte), size: 1, label: Uint8Array.of(1) });
    review(scenario, "a", "pass", ["0004.sql", "0005.sql"], [piece(1), piece(2)]);
    review(scenario, "b", "fail", ["0005.sql"], [piece(3), piece(2)]);
    const [verdict, ...others] = ofRun(scenario);
    expect(others).toEqual([]);
    expect(verdict).toMatchObject({
      verdict: "RESULTS_CONFLICT",
      action: "verify",
      final: true,
      findings: [{ code: "results-conflict", about: "a b" }],
    });
    expect(verdict?.conflicts).toEqual([
      {
        pass: { task: "a", epoch: 1, actor: "agent" },
        fail: { task: "b", epoch: 1, actor: "agent" },
        on: ["0005.sql"],
        evidence: [
          { task: "a", actor: "agent", hash: bytes(2) },
          { task: "b", actor: "agent", hash: bytes(2) },
          { task: "a", actor: "agent", hash: bytes(1) },
          { task: "b", actor: "agent", hash: bytes(3) },
        ],
      },
    ]);
    expect(verdict?.cause.first).toBeLessThan(verdict?.cause.last ?? 0);
  });

  it("shared evidence is enough", () => {
    const scenario = acceptedTask();
    const piece = { actor: "agent", hash: bytes(7), size: 1, label: Uint8Array.of(1) };
    review(scenario, "a", "pass", [], [piece]);
    review(scenario, "b", "fail", [], [piece]);
    expect(ofRun(scenario)[0]?.conflicts).toMatchObject([{ on: [], evidence: [{ task: "a" }, { task: "b" }] }]);
  });

  it.each<readonly [string, readonly (readonly [Claim, readonly string[]])[]]>([
    [
      "that agree",
      [
        ["pass", ["x"]],
        ["pass", ["x"]],
      ],
    ],
    [
      "about different things",
      [
        ["pass", ["x"]],
        ["fail", ["y"]],
      ],
    ],
    [
      "that nobody says are about anything",
      [
        ["pass", []],
        ["fail", []],
      ],
    ],
    [
      "of which one is unsure",
      [
        ["pass", ["x"]],
        ["unsure", ["x"]],
      ],
    ],
  ])("results %s: nothing is said", (_, claims) => {
    expect(ofRun(reviewed(...claims))).toEqual([]);
  });

  it("a result that is withdrawn contradicts nobody: delegated anew, or closed as of no use", () => {
    const scenario = reviewed(["pass", ["x"]], ["fail", ["x"]], ["fail", ["x"]]);
    expect(ofRun(scenario).at(-1)?.findings).toMatchObject([{ about: "r0 r1" }, { about: "r0 r2" }]);
    scenario.intent("r1", "close", { standing: { epoch: 1, state: "closed" }, state: "rejected" });
    expect(ofRun(scenario).at(-1)?.findings).toMatchObject([{ about: "r0 r2" }]);
    scenario.delegate("r2", { brief: { examines: ["x"] } });
    expect(ofRun(scenario).at(-1)).toMatchObject({ verdict: "RESULTS_CONSISTENT", action: "proceed", findings: [] });
    scenario.accept("r2").report("r2", { claim: "fail" });
    expect(ofRun(scenario).at(-1)?.conflicts).toMatchObject([{ pass: { task: "r0" }, fail: { task: "r2", epoch: 2 } }]);
  });

  it("an accepted result stands, although its task is closed", () => {
    const scenario = reviewed(["pass", ["x"]]);
    scenario.close("r0");
    review(scenario, "late", "fail", ["x"]);
    expect(ofRun(scenario).at(-1)?.findings).toMatchObject([{ about: "r0 late" }]);
  });

  it("is part of the decision on each task of the pair, and of no other", () => {
    const scenario = reviewed(["pass", ["x"]], ["fail", ["x"]], ["pass", ["y"]]);
    const decide = (task: string) =>
      decision(
        scenario.verdicts.filter((verdict) => concerns(verdict, task)),
        1,
      );
    expect(decide("r0")).toMatchObject({ action: "verify", final: true });
    expect(decide("r1")).toMatchObject({ action: "redispatch" });
    expect(decide("r1")?.verdicts.map(({ verdict }) => verdict)).toContain("RESULTS_CONFLICT");
    expect(decide("r2")).toMatchObject({ action: "proceed", final: true });
  });

  it("B1 the same log says the same again, and a late event that has its closed run read again adds nothing", () => {
    const scenario = reviewed(["pass", ["x"]], ["fail", ["x"]]);
    scenario.intent(runTask, "run-close", { state: "completed" });
    const before = ofRun(scenario).length;
    scenario.error("r1");
    expect(ofRun(scenario)).toHaveLength(before);
    expect(scenario.replay().verdicts).toEqual(scenario.verdicts);
  });
});

describe("T4 the board of results", () => {
  const step = fc.record({
    number: fc.integer({ min: 0, max: 5 }),
    claim: fc.constantFrom("pass" as const, "fail" as const, undefined),
    examines: fc.uniqueArray(fc.constantFrom("x", "y", "z"), { maxLength: 3 }),
    pieces: fc.uniqueArray(fc.integer({ min: 1, max: 3 }), { maxLength: 2 }),
  });

  it("names just the pairs that overlap and contradict each other, whatever came and went before", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        const board = new ResultBoard();
        const now = new Map<string, BoardedResult>();
        for (const [index, { number, claim, examines, pieces }] of steps.entries()) {
          const task = `t${number}`;
          if (claim === undefined) {
            expect(board.withdraw(task)).toBe(now.delete(task));
            continue;
          }
          const evidence = pieces.map((byte) => ({ actor: "a", hash: bytes(byte), size: 1 }));
          const result = { task, epoch: 1, actor: "a", claim, seq: index + 1, examines, evidence };
          board.put(result);
          now.set(task, result);
        }
        const all = [...now.values()];
        const overlap = (a: BoardedResult, b: BoardedResult): boolean =>
          a.examines.some((name) => b.examines.includes(name)) ||
          a.evidence.some(({ hash }) => b.evidence.some((other) => other.hash[0] === hash[0]));
        const expected = all
          .filter(({ claim }) => claim === "pass")
          .flatMap((a) => all.filter((b) => b.claim === "fail" && overlap(a, b)).map((b) => `${a.task} ${b.task}`));
        const { judgement, conflicts } = board.judge();
        expect(judgement.findings.map(({ about }) => about).sort()).toEqual(expected.sort());
        expect(conflicts).toHaveLength(Math.min(20, expected.length));
      }),
    );
  });

  it("lists twenty pairs, names a thousand and counts the rest", () => {
    const board = new ResultBoard();
    for (let i = 0; i < 80; i += 1) {
      const claim = i % 2 === 0 ? "pass" : "fail";
      board.put({ task: `t${i}`, epoch: 1, actor: "a", claim, seq: i + 1, examines: ["x"], evidence: [] });
    }
    const { judgement, conflicts, first } = board.judge();
    expect([judgement.findings.length, judgement.dropped, conflicts.length, first]).toEqual([1_000, 600, 20, 1]);
  });
});

describe("T5 sizes of work and result", () => {
  it("a result nearly as large as its work is flagged, and proceeds", () => {
    const scenario = acceptedTask();
    scenario.report("t1", { sizes: { work: 1_000, result: 800 } });
    expect(scenario.last("result")).toEqual({
      verdict: "UNDER_DECOMPOSED",
      action: "proceed",
      final: true,
      findings: ["under-decomposed"],
    });
    expect(decision(scenario.verdicts, 1)).toMatchObject({ action: "proceed", final: true });
  });

  it.each([undefined, { work: 1_000, result: 799 }, { work: 1, result: 0 }])("%o is not", (sizes) => {
    const scenario = acceptedTask();
    scenario.report("t1", sizes === undefined ? {} : { sizes });
    expect(scenario.last("result")).toBeUndefined();
  });
});
