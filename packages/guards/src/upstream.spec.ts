import { describe, expect, it } from "vitest";
import { runTask, type Payload, type VerdictBody } from "@candor/contract";
import { Scenario } from "../../../test/kit/scenario.js";

type Use = NonNullable<Payload<"report">["upstreams"]>[number];

const used = (upstream: string, firstTry: number, troubled = 0): Use => ({
  upstream,
  calls: firstTry + troubled,
  firstTry,
  tries: firstTry + troubled,
});

function run(): Scenario {
  return new Scenario().open();
}

/** A task of its own that calls an upstream so many times well, and so many times only at the second try. */
function task(scenario: Scenario, name: string, upstream: string, calls: { well: number; again?: number }): void {
  scenario.delegate(name).accept(name);
  for (let i = 0; i < (calls.again ?? 0); i += 1) {
    const reason = scenario.agent(name, "error", { ...scenario.errorPayload(), upstream });
    const retry = { operation: "lookup", upstream, attempt: 2, reason, delayMs: 5, outcome: "ok" as const };
    scenario.agent(name, "retry", retry);
  }
  scenario.report(name, { upstreams: [used(upstream, calls.well, calls.again)] });
}

/** A task that gives an upstream up and says that it was its fault. */
function blaming(scenario: Scenario, name: string, upstream: string, type: "unavailable" | "denied" = "unavailable") {
  scenario.delegate(name).accept(name);
  scenario.agent(name, "error", { ...scenario.errorPayload({ finality: "exhausted" }), type, upstream });
  const coverage = [{ task: "work", state: "failed" as const }];
  scenario.report(name, { claim: "fail", coverage, upstreams: [used(upstream, 0, 1)] });
}

const upstreamVerdicts = (scenario: Scenario, of: string): VerdictBody[] =>
  scenario.verdicts.filter(({ judge, task: about }) => judge === "upstream" && about === of);

describe("D2 the health of an upstream, over the tasks of a run", () => {
  it("shows although every task succeeded, and counts in no task's decision", () => {
    const scenario = run();
    for (const name of ["a", "b", "c"]) task(scenario, name, "stock", { well: 2, again: 1 });
    const [degraded, ...more] = upstreamVerdicts(scenario, runTask);
    expect(more).toEqual([]);
    expect(degraded).toMatchObject({
      verdict: "UPSTREAM_DEGRADED",
      action: "wait",
      final: false,
      findings: [{ code: "upstream-degraded", about: "stock" }],
      upstreams: [{ upstream: "stock", calls: 6, firstTry: 4, recovered: 2, failed: 0, tasks: 2 }],
    });
    for (const name of ["a", "b", "c"])
      expect(scenario.last("disclosure", name)).toMatchObject({
        verdict: "FULL_DISCLOSURE_VERIFIED",
        action: "proceed",
      });
  });

  it("is told once an upstream, and once more when the run is closed", () => {
    const scenario = run();
    for (const name of ["a", "b", "c"]) task(scenario, name, "stock", { well: 1, again: 4 });
    task(scenario, "d", "mail", { well: 1, again: 9 });
    scenario.intent(runTask, "run-close", { state: "completed" });
    const told = upstreamVerdicts(scenario, runTask);
    expect(told.map(({ final, findings }) => [final, findings.map(({ about }) => about)])).toEqual([
      [false, ["stock"]],
      [false, ["stock", "mail"]],
      [true, ["stock", "mail"]],
    ]);
    expect(scenario.replay().verdicts).toEqual(scenario.verdicts);
  });

  it.each([
    ["too few calls to say", { well: 2, again: 2 }, 1],
    ["a share below the threshold", { well: 8, again: 3 }, 3],
  ])("says nothing of %s", (_, calls, tasks) => {
    const scenario = run();
    for (let i = 0; i < tasks; i += 1) task(scenario, `t${i}`, "stock", calls);
    expect(upstreamVerdicts(scenario, runTask)).toEqual([]);
  });

  it("counts a window at a time", () => {
    const scenario = run();
    task(scenario, "a", "stock", { well: 0, again: 3 });
    scenario.tick(60_000);
    task(scenario, "b", "stock", { well: 0, again: 3 });
    expect(upstreamVerdicts(scenario, runTask)).toEqual([]);
  });

  it("does not take a report's word for calls that had trouble", () => {
    const scenario = run();
    scenario.delegate("a").accept("a");
    for (let i = 0; i < 5; i += 1) {
      const reason = scenario.agent("a", "error", { ...scenario.errorPayload(), upstream: "stock" });
      scenario.agent("a", "retry", {
        operation: "lookup",
        upstream: "stock",
        attempt: 2,
        reason,
        delayMs: 1,
        outcome: "ok",
      });
    }
    scenario.report("a", { upstreams: [used("other", 3)] });
    expect(upstreamVerdicts(scenario, runTask)[0]?.upstreams).toMatchObject([
      { upstream: "stock", calls: 5, recovered: 5 },
    ]);
  });

  it("is not judged under a policy that says nothing of it, nor of a report that counts nothing", () => {
    const silent = new Scenario({ policy: { upstreams: undefined } }).open();
    for (const name of ["a", "b"]) task(silent, name, "stock", { well: 0, again: 5 });
    expect(upstreamVerdicts(silent, runTask)).toEqual([]);
    const scenario = run();
    scenario.delegate("a").accept("a");
    for (let i = 0; i < 9; i += 1) scenario.agent("a", "error", { ...scenario.errorPayload(), upstream: "stock" });
    scenario.report("a", { claim: "fail" });
    expect(upstreamVerdicts(scenario, runTask)).toEqual([]);
  });
});

describe("D6 blame on an upstream", () => {
  it("that other tasks used without any trouble is borne out by nobody, whoever reports first", () => {
    for (const first of [true, false]) {
      const scenario = run();
      if (first) blaming(scenario, "deflector", "stock");
      task(scenario, "a", "stock", { well: 2 });
      task(scenario, "b", "stock", { well: 1 });
      if (!first) blaming(scenario, "deflector", "stock");
      expect(upstreamVerdicts(scenario, "deflector")).toMatchObject([
        {
          verdict: "BLAME_UNCORROBORATED",
          action: "escalate",
          findings: [{ code: "blame-uncorroborated", about: "stock" }],
        },
      ]);
      expect(scenario.replay().verdicts).toEqual(scenario.verdicts);
    }
  });

  it("is taken back once another task reports trouble too", () => {
    const scenario = run();
    task(scenario, "a", "stock", { well: 2 });
    task(scenario, "b", "stock", { well: 1 });
    blaming(scenario, "right", "stock");
    task(scenario, "c", "stock", { well: 1, again: 1 });
    expect(upstreamVerdicts(scenario, "right").map(({ verdict, action }) => [verdict, action])).toEqual([
      ["BLAME_UNCORROBORATED", "escalate"],
      ["BLAME_CORROBORATED", "proceed"],
    ]);
  });

  it.each<[string, (scenario: Scenario) => void]>([
    ["another task had trouble", (s) => { task(s, "c", "stock", { well: 5, again: 1 }); blaming(s, "t", "stock"); }], // prettier-ignore
    ["too few others used it", (s) => { blaming(s, "t", "stock"); }], // prettier-ignore
    ["it was asked for what it must refuse", (s) => { blaming(s, "t", "stock", "denied"); }], // prettier-ignore
    ["it blames another upstream", (s) => { blaming(s, "t", "mail"); }], // prettier-ignore
  ])("is left alone where %s", (name, blame) => {
    const scenario = run();
    task(scenario, "a", "stock", { well: 2 });
    if (!name.startsWith("too few")) task(scenario, "b", "stock", { well: 1 });
    blame(scenario);
    expect(scenario.verdicts.filter(({ judge, task: of }) => judge === "upstream" && of !== runTask)).toEqual([]);
  });

  it("of a task that is closed is not judged any more", () => {
    const scenario = run();
    blaming(scenario, "gone", "stock");
    scenario.close("gone");
    task(scenario, "a", "stock", { well: 2 });
    task(scenario, "b", "stock", { well: 1 });
    expect(upstreamVerdicts(scenario, "gone")).toEqual([]);
  });
});
