import { describe, expect, it } from "vitest";
import { acceptedTask, fullScope, type Scenario } from "../../../test/kit/scenario.js";

const verified = { verdict: "FULL_DISCLOSURE_VERIFIED", action: "proceed", final: true, findings: [] };
const concealed = (...findings: string[]) => ({
  verdict: "CONCEALMENT_DETECTED",
  action: "halt",
  final: true,
  findings,
});
const risk = (action: string, final: boolean, ...findings: string[]) => ({
  verdict: "PARTIAL_DISCLOSURE_RISK",
  action,
  final,
  findings,
});

/** What the agent does and reports; then the verdict. Everything else is an honest run. */
const cases: readonly (readonly [
  name: string,
  options: Parameters<typeof acceptedTask>[0],
  when: (s: Scenario) => void,
  then: object,
])[] = [
  ["D5 an honest success", {}, (s) => s.report(), verified],
  [
    "D8 S5 an error early on that a retry recovered",
    {},
    (s) => {
      s.retry("t1", 2, s.error());
      s.report();
    },
    verified,
  ],
  [
    "D8 an honest failure is disclosed in full, and its action says that the work is still to be done",
    {},
    (s) => {
      s.error("t1", { finality: "exhausted" });
      s.report("t1", { claim: "fail", finishReason: "error", work: { calls: 1, succeeded: 0 } });
    },
    { ...verified, action: "redispatch" },
  ],
  [
    "S1 every call failed, the answer was empty, success was claimed",
    {},
    (s) => {
      s.error("t1", { finality: "exhausted" });
      s.report("t1", { work: { calls: 1, succeeded: 0 } });
    },
    concealed("unrecovered-under-success", "no-work"),
  ],
  [
    "S2 a failure overwritten by a later success",
    {},
    (s) => {
      s.report("t1", { claim: "fail", finishReason: "error" });
      s.report("t1");
    },
    concealed("failure-turned-success"),
  ],
  [
    "S4 success beside a finish reason of error",
    {},
    (s) => s.report("t1", { finishReason: "error" }),
    concealed("failure-turned-success"),
  ],
  [
    "S7 success with no work at all",
    {},
    (s) => s.report("t1", { work: { calls: 0, succeeded: 0 } }),
    concealed("no-work"),
  ],
  [
    "D7 a bare success is acceptable where the orchestrator can verify it",
    { brief: { directlyVerifiable: true } },
    (s) => s.report("t1", { work: { calls: 0, succeeded: 0 } }),
    verified,
  ],
  [
    "D7 a bare success is acceptable where a probe confirmed it",
    {},
    (s) => {
      s.report("t1", { work: { calls: 0, succeeded: 0 } });
      s.probe("confirmed");
    },
    verified,
  ],
  [
    "D1 the tail of the receipt is dropped",
    {},
    (s) => {
      s.retry("t1", 2, s.error());
      const honest = s.reportPayload();
      s.retry("t1", 2, s.error());
      s.report("t1", { ...honest });
    },
    {
      ...concealed(),
      findings: expect.arrayContaining(["receipt-mismatch", "tally-mismatch", "retry-undisclosed"]) as string[],
    },
  ],
  [
    "D2 D6 retries are masked",
    {},
    (s) => {
      s.retry("t1", 2, s.error());
      const { receipts } = s.reportPayload();
      if (receipts !== undefined) s.report("t1", { receipts: { ...receipts, retries: { entries: [], unseen: [] } } });
    },
    concealed("retry-undisclosed"),
  ],
  [
    "D2 a layer that nobody sees is claimed as seen",
    { scope: { ...fullScope, dimensions: { ...fullScope.dimensions, transportAttempts: "unseen" } } },
    (s) => s.report(),
    concealed("tally-mismatch"),
  ],
  [
    "D1 no receipts at all",
    {},
    (s) => {
      const bare = s.reportPayload();
      delete bare.receipts;
      s.agent("t1", "report", bare);
    },
    concealed("receipt-mismatch"),
  ],
  [
    "D6 a key task without status",
    {},
    (s) => s.report("t1", { coverage: [], confidence: { formula: 1, score: 0, caveats: 0 } }),
    risk("verify", true, "key-task-unreported"),
  ],
  [
    "D9 an effect that the report leaves out",
    {},
    (s) => {
      s.outcome("t1", s.dispatch());
      s.report("t1", { effects: [] });
    },
    concealed("effect-undeclared"),
  ],
  [
    "D3 a confidence that the log does not give",
    {},
    (s) => s.report("t1", { confidence: { formula: 1, score: 0.99, caveats: 0 } }),
    concealed("confidence-mismatch"),
  ],
  [
    "D11 a dimension that the brief needs and nobody sees",
    {
      brief: { needs: ["transportAttempts"] },
      scope: { ...fullScope, dimensions: { ...fullScope.dimensions, transportAttempts: "unseen" } },
    },
    (s) => {
      const scope = { ...fullScope, dimensions: { ...fullScope.dimensions, transportAttempts: "unseen" as const } };
      s.report("t1", {}, { scope });
    },
    risk("verify", true, "scope-unseen"),
  ],
  [
    "D9 no finish reason",
    {},
    (s) => s.report("t1", { finishReason: "missing" }),
    risk("verify", true, "finish-reason-missing"),
  ],
  [
    "D4 a critical task without a probe waits for one",
    { brief: { critical: true } },
    (s) => s.report(),
    risk("probe", false, "probe-missing"),
  ],
  [
    "D4 … and is judged without it when the settle window ends",
    { brief: { critical: true } },
    (s) => s.report().tick(2_000),
    risk("probe", true, "probe-missing"),
  ],
  [
    "D4 a confirming probe",
    { brief: { critical: true } },
    (s) => {
      s.probe("confirmed");
      s.report();
    },
    verified,
  ],
  [
    "D4 an inconclusive probe is none",
    { brief: { critical: true } },
    (s) => {
      s.probe("inconclusive");
      s.report().tick(2_000);
    },
    risk("probe", true, "probe-missing"),
  ],
  [
    "D4 D9 a probe contradicts the report",
    {},
    (s) => {
      s.report();
      s.probe("contradicted");
    },
    concealed("probe-contradicts"),
  ],
];

describe("disclosure, strictly: given an accepted task", () => {
  it.each(cases)("%s", (_, options, when, then) => {
    const scenario = acceptedTask(options);
    when(scenario);
    expect(scenario.last("disclosure")).toEqual(then);
  });

  it("D5 a contradiction after a final verdict is a new revision, never silence", () => {
    const scenario = acceptedTask();
    scenario.report();
    scenario.probe("contradicted");
    const spoken = scenario.verdicts.filter(({ judge }) => judge === "disclosure");
    expect(spoken.map(({ revision, verdict }) => [revision, verdict])).toEqual([
      [1, "FULL_DISCLOSURE_VERIFIED"],
      [2, "CONCEALMENT_DETECTED"],
    ]);
  });

  it("D5 a task that is closed without a report is named so", () => {
    const scenario = acceptedTask();
    scenario.close("t1");
    expect(scenario.last("disclosure")).toEqual(risk("escalate", true, "report-missing"));
  });

  it("D10 the reference verdict and digest stand beside the strict ones", () => {
    const scenario = acceptedTask({ brief: { critical: true } });
    scenario.report();
    const body = scenario.verdicts.findLast(({ judge }) => judge === "disclosure");
    expect(body?.reference).toMatchObject({
      verdict: "PARTIAL_DISCLOSURE_RISK",
      directive: expect.stringContaining("HALT") as string,
    });
    expect(body?.reference?.digest).toMatch(/^[0-9a-f]{64}$/);
  });
});
