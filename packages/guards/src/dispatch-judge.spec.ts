import { sha256, utf8, zeroHash, type Brief, type Payload, type ProbeOutcome, type Upward } from "@candor/contract";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { keys, Scenario } from "../../../test/kit/scenario.js";

const digest = (text: string): Uint8Array => sha256(utf8(text));
const sealed = (text: string): Uint8Array => utf8(text);
const verifier = { kind: "command", digest: digest("npm test") } as const;
const terms = { redispatches: 1, verifier, newMechanism: false } satisfies Brief["terms"];
const completed: Upward = { status: "completed", escalationRequired: false, blockers: [], anchors: [], planned: [] };
const failed: Upward = { ...completed, status: "failed", blockers: [sealed("src/a.ts:42")] };
const deploy = { digest: digest("deploy"), text: sealed("deploy") };
const mail = { digest: digest("mail"), text: sealed("mail") };

interface Told {
  readonly brief?: Partial<Brief>;
  readonly upward?: Upward | undefined;
  readonly confidence?: number;
  readonly claim?: Payload<"report">["claim"];
}

/** A task with terms whose agent has reported. */
function reported({ brief = {}, upward = completed, confidence = 0.9, claim = "pass" }: Told = {}): Scenario {
  const scenario = new Scenario()
    .open()
    .delegate("t1", { brief: { terms, ...brief } })
    .accept();
  return report(scenario, { upward, confidence, claim });
}

function report(scenario: Scenario, { upward = completed, confidence = 0.9, claim = "pass" }: Told): Scenario {
  return scenario.report("t1", { claim, selfReportedConfidence: confidence, upward });
}

function verify(scenario: Scenario, exitCode: number | null, more: Partial<Verification> = {}): Scenario {
  const { outcome = exitCode === null ? "inconclusive" : exitCode === 0 ? "confirmed" : "contradicted", ...bend } =
    more;
  const { seq = 1, prev = zeroHash, signer = keys.prober, ...rest } = bend;
  const payload = { target: { of: "task" as const }, method: "npm test", outcome };
  const full = { kind: "command" as const, digest: verifier.digest, role: "check" as const, outputBytes: 0 };
  scenario.event(
    "probe",
    { ...payload, verifier: { ...full, ...(exitCode === null ? {} : { exitCode }), ...rest } },
    { task: "t1", actor: "prober", epoch: scenario.epochOf("t1"), seq, prev, signer },
  );
  return scenario;
}
type Verification = NonNullable<Payload<"probe">["verifier"]> & {
  outcome: ProbeOutcome;
  seq: number;
  prev: Uint8Array;
  signer: typeof keys.prober;
};

function approve(scenario: Scenario, bend: Partial<Payload<"approve">> = {}): string[] {
  const epoch = scenario.epochOf("t1");
  scenario.intent("t1", "approve", {
    standing: { epoch, state: "delegated" },
    person: "ada",
    ...("report" in bend ? {} : { report: lastReport(scenario) }),
    approved: [],
    refused: [],
    accept: false,
    redispatches: 0,
    authority: [],
    ...bend,
  });
  return scenario.last("intent")?.findings ?? [];
}

/** Hash of the report as the guard names it. */
function lastReport(scenario: Scenario): Uint8Array {
  const body = scenario.verdicts.filter(({ judge }) => judge === "dispatch").at(-1);
  return body?.report ?? expect.unreachable("no verdict names a report");
}

function accept(scenario: Scenario): string[] {
  scenario.close("t1");
  return scenario.last("intent")?.findings ?? [];
}

function again(scenario: Scenario, brief: Partial<Brief> = {}, minted: Payload<"delegate">["intents"] = []): string[] {
  scenario.delegate("t1", { brief: { terms, ...brief }, minted });
  return scenario.last("intent")?.findings ?? [];
}

describe("U2 the guard's word on an upward report", () => {
  it.each([
    ["REPORT_UNVERIFIED", "verify", [], {}],
    ["REPORT_UNVERIFIED", "verify", [], { confidence: 0.2 }],
    ["REDISPATCH_ALLOWED", "redispatch", [], { upward: failed, claim: "fail" }],
    ["REPORT_ESCALATED", "escalate", ["decision-unclear"], { upward: { ...failed, blockers: [] }, claim: "fail" }],
    ["REPORT_ESCALATED", "escalate", ["task-blocked"], { upward: { ...failed, status: "blocked" }, claim: "fail" }],
    [
      "REPORT_ESCALATED",
      "escalate",
      ["authority-denied"],
      { upward: { ...failed, status: "denied-by-authority" }, claim: "fail" },
    ],
    ["REPORT_ESCALATED", "escalate", ["escalation-requested"], { upward: { ...completed, escalationRequired: true } }],
    ["REPORT_ESCALATED", "escalate", ["claim-differs"], { upward: failed }],
    ["REPORT_ESCALATED", "escalate", ["claim-differs"], { claim: "fail" }],
    [
      "REPORT_ESCALATED",
      "escalate",
      ["verifier-missing"],
      { brief: { terms: { redispatches: 1, newMechanism: false } } },
    ],
    [
      "REPORT_ESCALATED",
      "escalate",
      ["decision-unclear"],
      { confidence: 0.2, brief: { terms: { redispatches: 1, verifier } } },
    ],
    [
      "REPORT_ESCALATED",
      "escalate",
      ["budget-spent"],
      { upward: failed, claim: "fail", brief: { terms: { ...terms, redispatches: 0 } } },
    ],
    ["APPROVAL_PENDING", "approve", [], { upward: { ...completed, planned: [deploy] } }],
  ] as const)("%s, %s %j", (verdict, action, findings, told) => {
    expect(reported(told as Told).last("dispatch")).toEqual({ verdict, action, final: true, findings });
  });

  it("a report without an upward one is escalated, and without terms nobody speaks of it", () => {
    const bare = new Scenario().open().delegate("t1", { brief: { terms } }).accept().report();
    expect(bare.last("dispatch")).toMatchObject({ action: "escalate", findings: ["upward-report-missing"] });
    const free = new Scenario().open().delegate().accept().report("t1", { upward: completed });
    expect(free.last("dispatch")).toBeUndefined();
    expect(free.verdicts.every(({ awaits }) => awaits === undefined)).toBe(true);
  });

  it("prose makes no difference", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 60 }), (prose) => {
        const worded = { ...failed, blockers: [prose], anchors: [prose], notes: prose, escalationReason: prose };
        expect(reported({ upward: worded, claim: "fail" }).last("dispatch")?.action).toBe("redispatch");
      }),
      { numRuns: 20 },
    );
  });
});

describe("U5 verifiers' receipts", () => {
  it.each([
    ["passes", 0, {}, "REPORT_VERIFIED", []],
    ["fails", 1, {}, "REPORT_ESCALATED", ["verifier-failed"]],
    ["does not end", null, {}, "REPORT_ESCALATED", ["verifier-failed"]],
    ["is another than the terms name", 0, { digest: digest("true") }, "REPORT_UNVERIFIED", []],
    ["is of another kind", 0, { kind: "probe" }, "REPORT_UNVERIFIED", []],
    ["is said to pass with exit code 1", 1, { outcome: "confirmed" }, "REPORT_ESCALATED", ["verifier-failed"]],
    ["is signed by a stranger", 0, { signer: keys.stranger }, "REPORT_UNVERIFIED", []],
  ] as const)("%s", (_, exitCode, more, verdict, findings) => {
    const scenario = verify(reported(), exitCode, more);
    expect(scenario.last("dispatch")).toMatchObject({ verdict, findings });
    expect(scenario.last("disclosure")?.verdict).toBe("FULL_DISCLOSURE_VERIFIED");
  });

  it("one that failed is not run until it passes", () => {
    const scenario = verify(reported(), 1);
    verify(scenario, 0, { seq: 2, prev: scenario.lastHash });
    expect(scenario.last("dispatch")?.findings).toEqual(["verifier-failed"]);
  });

  it("before the report it counts for nothing", () => {
    const scenario = new Scenario().open().delegate("t1", { brief: { terms } }).accept();
    report(verify(scenario, 0), {});
    expect(scenario.last("dispatch")?.verdict).toBe("REPORT_UNVERIFIED");
  });

  it("a new mechanism has to make the difference", () => {
    const ablation = digest("npm test without");
    const withMechanism = { ...terms, newMechanism: true, ablation };
    const unsure = (): Scenario => verify(reported({ confidence: 0.5, brief: { terms: withMechanism } }), 0);
    expect(unsure().last("dispatch")?.verdict).toBe("REPORT_UNVERIFIED");
    const ablated = (exitCode: number): Scenario => {
      const scenario = unsure();
      return verify(scenario, exitCode, { role: "ablation", digest: ablation, seq: 2, prev: scenario.lastHash });
    };
    expect(ablated(1).last("dispatch")?.verdict).toBe("REPORT_VERIFIED");
    expect(ablated(0).last("dispatch")?.findings).toEqual(["mechanism-unproven"]);
  });
});

describe("U3 what the fold refuses, with a verdict for each breach", () => {
  it("accepting without a verifier, whatever the confidence", () => {
    for (const confidence of [0.2, 1]) expect(accept(reported({ confidence }))).toEqual(["accepted-unverified"]);
    expect(accept(verify(reported({ confidence: 0.2 }), 1))).toEqual(["accepted-unverified"]);
    expect(accept(reported({ upward: failed, claim: "fail" }))).toEqual(["accepted-unverified"]);
  });

  it("a verifier's pass or a person's word accepts, and the task is then closed", () => {
    expect(accept(verify(reported({ confidence: 0.2 }), 0))).toEqual([]);
    const scenario = verify(reported(), 1);
    expect(approve(scenario, { accept: true })).toEqual([]);
    expect(scenario.last("dispatch")).toMatchObject({ verdict: "REPORT_APPROVED", action: "proceed" });
    expect(accept(scenario)).toEqual([]);
  });

  it("a retry beyond the budget, until a person allows another", () => {
    const scenario = reported({ upward: failed, claim: "fail" });
    expect(again(scenario)).toEqual([]);
    report(scenario.accept(), { upward: failed, claim: "fail" });
    expect(scenario.last("dispatch")?.findings).toEqual(["budget-spent"]);
    expect(again(scenario)).toEqual(["redispatch-over-budget"]);
    expect(again(scenario, { terms: { ...terms, redispatches: 2 } })).toEqual(["terms-widened"]);
    expect(approve(scenario, { redispatches: 1 })).toEqual([]);
    expect(scenario.last("dispatch")?.action).toBe("redispatch");
    expect(again(scenario, { terms: { ...terms, redispatches: 2 } })).toEqual([]);
  });

  it("leaving the terms out, or changing the verifier", () => {
    const swapped = { ...terms, verifier: { kind: "command" as const, digest: digest("true") } };
    for (const other of [undefined, swapped, { ...terms, newMechanism: true }]) {
      const scenario = reported({ upward: failed, claim: "fail" });
      const brief = other === undefined ? {} : { terms: other };
      scenario.delegate("t1", { brief });
      expect(scenario.last("intent")?.findings).toEqual(["terms-widened"]);
    }
  });

  it("widening authority without a person", () => {
    const scenario = reported({ upward: failed, claim: "fail", brief: { authority: ["read"] } });
    expect(again(scenario, { authority: ["read", "write"] })).toEqual(["authority-widened"]);
    expect(approve(scenario, { authority: ["write"] })).toEqual([]);
    expect(again(scenario, { authority: ["read", "write"] })).toEqual([]);
  });

  it("a rejected re-delegation leaves the epoch as it is", () => {
    const scenario = reported({ upward: failed, claim: "fail", brief: { terms: { ...terms, redispatches: 0 } } });
    expect(again(scenario, { terms: { ...terms, redispatches: 0 } })).toEqual(["redispatch-over-budget"]);
    expect(scenario.epochOf("t1")).toBe(1);
  });
});

describe("U4 planned actions", () => {
  const planning = { upward: { ...completed, planned: [deploy, mail] } };
  const minted = (action: typeof deploy) => [{ intent: "deploy", key: "k1", planned: action }];

  it("wait until each is answered", () => {
    const scenario = verify(reported(planning), 0);
    expect(scenario.last("dispatch")?.verdict).toBe("APPROVAL_PENDING");
    expect(approve(scenario, { approved: [deploy.digest] })).toEqual([]);
    expect(scenario.last("dispatch")?.verdict).toBe("APPROVAL_PENDING");
    expect(approve(scenario, { refused: [mail.digest] })).toEqual([]);
    expect(scenario.last("dispatch")?.verdict).toBe("REPORT_VERIFIED");
  });

  it("get a key only once they are approved, and carrying on with them is no retry", () => {
    const brief = { terms: { ...terms, redispatches: 0 } };
    const scenario = reported({ ...planning, brief });
    expect(again(scenario, brief, minted(deploy))).toEqual(["action-unapproved"]);
    approve(scenario, { approved: [deploy.digest], refused: [mail.digest] });
    expect(again(scenario, brief, minted(mail))).toEqual(["action-unapproved"]);
    expect(again(scenario, brief)).toEqual(["redispatch-over-budget"]);
    expect(again(scenario, brief, minted(deploy))).toEqual([]);
    // The approval was about that report.
    report(scenario.accept(), {});
    expect(again(scenario, brief, minted(deploy))).toEqual(["action-unapproved"]);
  });

  it.each([
    ["another report", { report: digest("another") }],
    ["an action that is not planned", { approved: [digest("format the disk")] }],
    ["an action both ways", { approved: [deploy.digest], refused: [deploy.digest] }],
    ["no report", { report: undefined, approved: [deploy.digest] }],
  ])("are not approved by an intent about %s", (_, bend) => {
    const scenario = reported(planning);
    const { report: named, ...rest } = bend as Partial<Payload<"approve">>;
    const about = "report" in bend ? (named === undefined ? { report: undefined } : { report: named }) : {};
    expect(approve(scenario, { ...rest, ...about })).toEqual(["approval-unfounded"]);
    expect(scenario.last("dispatch")?.verdict).toBe("APPROVAL_PENDING");
  });

  it("an approval of a task without terms holds nothing", () => {
    const scenario = new Scenario().open().delegate().accept().report();
    expect(approve(scenario, { report: digest("some") })).toEqual(["approval-unfounded"]);
  });
});

describe("U3 for every course that a task can take", () => {
  interface Leave {
    readonly authority: string[];
    readonly redispatches: number;
  }
  type Step =
    | ({ readonly kind: "again" } & Leave)
    | ({ readonly kind: "approve" } & Leave)
    | { readonly kind: "verify"; readonly exitCode: number }
    | { readonly kind: "accept" }
    | { readonly kind: "close" };
  const leave = { authority: fc.subarray(["read", "write", "deploy"]), redispatches: fc.nat(1) };
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({ kind: fc.constant("again" as const), ...leave }),
    fc.record({ kind: fc.constant("approve" as const), ...leave }),
    fc.record({ kind: fc.constant("verify" as const), exitCode: fc.constantFrom(0, 0, 1) }),
    fc.constant({ kind: "accept" as const }),
    fc.constant({ kind: "close" as const }),
  );

  it("nothing is accepted, retried or allowed but by the terms, a verifier or a person", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 14 }), fc.nat(2), fc.array(fc.boolean()), (steps, redispatches, ends) => {
        const brief = (authority: readonly string[]): Partial<Brief> => ({
          terms: { ...terms, redispatches },
          authority: [...authority],
        });
        const isDone = (epoch: number): boolean => ends[epoch] ?? true;
        const end = (scenario: Scenario, epoch: number): Scenario =>
          report(scenario, isDone(epoch) ? {} : { upward: failed, claim: "fail" });
        const scenario = new Scenario()
          .open()
          .delegate("t1", { brief: brief(["read"]) })
          .accept();
        end(scenario, 1);
        const now = { used: 0, extra: 0, allowed: new Set<string>(), authority: ["read"], checks: [] as number[] };
        let isPersons = false;
        let prev: Uint8Array = zeroHash;
        for (const one of steps) {
          if (one.kind === "verify") {
            verify(scenario, one.exitCode, { seq: now.checks.push(one.exitCode), prev });
            prev = scenario.lastHash;
          } else if (one.kind === "approve") {
            expect(approve(scenario, { redispatches: one.redispatches, authority: one.authority })).toEqual([]);
            now.extra += one.redispatches;
            for (const word of one.authority) now.allowed.add(word);
          } else if (one.kind === "accept") {
            expect(approve(scenario, { accept: true })).toEqual([]);
            isPersons = true;
          } else if (one.kind === "close") {
            const passes = now.checks.includes(0) && !now.checks.includes(1) && isDone(scenario.epochOf("t1"));
            expect(accept(scenario)).toEqual(isPersons || passes ? [] : ["accepted-unverified"]);
            if (isPersons || passes) return;
          } else {
            const isWithin = one.authority.every((word) => now.authority.includes(word) || now.allowed.has(word));
            const isLeft = now.used < redispatches + now.extra;
            const found = again(scenario, brief(one.authority));
            expect(found).toEqual(isWithin ? (isLeft ? [] : ["redispatch-over-budget"]) : ["authority-widened"]);
            if (found.length > 0) continue;
            Object.assign(now, {
              used: now.used + 1,
              extra: 0,
              allowed: new Set(),
              authority: one.authority,
              checks: [],
            });
            isPersons = false;
            prev = zeroHash;
            end(scenario.accept(), scenario.epochOf("t1"));
          }
        }
      }),
      { numRuns: 150 },
    );
  });
});

describe("U2 B1 B8 the whole", () => {
  it("says the same again from the log alone, a closed task that is read again included", () => {
    const scenario = verify(reported({ upward: failed, claim: "fail", brief: { authority: ["read"] } }), 0);
    again(scenario, { authority: ["read"] });
    report(scenario.accept(), { upward: { ...completed, planned: [deploy] } });
    verify(scenario, 0, { role: "check" });
    approve(scenario, { approved: [deploy.digest] });
    expect(accept(scenario)).toEqual([]);
    scenario.dispatch("t1");
    expect(scenario.replay().verdicts).toEqual(scenario.verdicts);
  });

  it("a task that was stopped has no result to deal with", () => {
    const scenario = new Scenario().open().delegate("t1", { brief: { terms } }).accept();
    scenario.stop("t1", "terminate");
    scenario.report("t1", { claim: "none", finishReason: "terminated" });
    expect(scenario.last("dispatch")).toBeUndefined();
  });

  it("disclosure says that there is no decision without it", () => {
    const bodies = reported().verdicts.filter(({ judge }) => judge === "disclosure");
    expect(bodies.map(({ awaits }) => awaits)).toEqual(bodies.map(() => ["dispatch"]));
  });
});
