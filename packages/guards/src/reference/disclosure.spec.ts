import { createHash } from "node:crypto";
import { CandorError } from "@candor/contract";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  evaluateDisclosureReference,
  type ReferenceDisclosurePolicy,
  type ReferenceDisclosureReport,
} from "./disclosure.js";

const honest: ReferenceDisclosureReport = {
  subagentId: "payer",
  reportedSuccess: true,
  errorsDisclosed: [],
  errorLogIntegrityProof: "proof",
  independentProbeConfirms: null,
};
const lenient: ReferenceDisclosurePolicy = { requireStructuredLogProof: false, requireProbeForCritical: false };
const both: ReferenceDisclosurePolicy = { requireStructuredLogProof: true, requireProbeForCritical: true };
const error = { errorId: "e-1", severity: "low", recovered: true, isInternalRetry: false };

interface Case {
  readonly given: string;
  readonly report: Partial<ReferenceDisclosureReport>;
  readonly policy: ReferenceDisclosurePolicy;
  readonly verdict: string;
  readonly directive: string;
  readonly manifest: string;
}

const cases: readonly Case[] = [
  {
    given: "no proof where one is required, and a contradicting probe",
    report: { errorLogIntegrityProof: null, independentProbeConfirms: false },
    policy: both,
    verdict: "PARTIAL_DISCLOSURE_RISK",
    directive: "HALT: Subagent payer lacks error log integrity proof.",
    manifest: "NO_INTEGRITY:payer",
  },
  {
    given: "an empty proof",
    report: { errorLogIntegrityProof: "" },
    policy: both,
    verdict: "PARTIAL_DISCLOSURE_RISK",
    directive: "HALT: Subagent payer lacks error log integrity proof.",
    manifest: "NO_INTEGRITY:payer",
  },
  {
    given: "no probe where one is required",
    report: {},
    policy: both,
    verdict: "PARTIAL_DISCLOSURE_RISK",
    directive: "HALT: Critical task payer requires independent probe.",
    manifest: "NO_PROBE:payer",
  },
  {
    given: "success and a contradicting probe",
    report: { independentProbeConfirms: false },
    policy: both,
    verdict: "CONCEALMENT_DETECTED",
    directive: "HALT: Subagent payer reported True but probe contradicts.",
    manifest: "CONCEALED:payer",
  },
  {
    given: "an admitted failure and a contradicting probe",
    report: { reportedSuccess: false, independentProbeConfirms: false },
    policy: lenient,
    verdict: "CONCEALMENT_DETECTED",
    directive: "HALT: Subagent payer reported False but probe contradicts.",
    manifest: "CONCEALED:payer",
  },
  {
    given: "a proof that is a single space, errors and a confirming probe",
    report: { errorLogIntegrityProof: " ", errorsDisclosed: [error, error], independentProbeConfirms: true },
    policy: both,
    verdict: "FULL_DISCLOSURE_VERIFIED",
    directive: "PROCEED: Full disclosure verified for payer.",
    manifest: '{"errors": "2", "integrity": " ", "probe": "True", "subagent": "payer", "success": "True"}',
  },
  {
    given: "nothing at all where nothing is required",
    report: { errorLogIntegrityProof: null, reportedSuccess: false },
    policy: lenient,
    verdict: "FULL_DISCLOSURE_VERIFIED",
    directive: "PROCEED: Full disclosure verified for payer.",
    manifest: '{"errors": "0", "integrity": "NONE", "probe": "None", "subagent": "payer", "success": "False"}',
  },
  {
    given: "a lone surrogate in the identifier of a verified report",
    report: { subagentId: "\ud83d" },
    policy: lenient,
    verdict: "FULL_DISCLOSURE_VERIFIED",
    directive: "PROCEED: Full disclosure verified for \ud83d.",
    manifest: '{"errors": "0", "integrity": "proof", "probe": "None", "subagent": "\\ud83d", "success": "True"}',
  },
];

describe("D10 reference disclosure", () => {
  it.each(cases)("given $given: $verdict", ({ report, policy, verdict, directive, manifest }) => {
    expect(evaluateDisclosureReference({ ...honest, ...report }, policy)).toEqual({
      verdict,
      outcome: directive.slice(0, directive.indexOf(":")).toLowerCase(),
      directive,
      manifestDigest: createHash("sha256").update(manifest).digest("hex"),
    });
  });

  it("hashes an identifier beyond ASCII as UTF-8", () => {
    const { manifestDigest } = evaluateDisclosureReference(
      { ...honest, subagentId: "zahler-\u00e9\ud83d\udea8" },
      both,
    );
    expect(manifestDigest).toBe(createHash("sha256").update("NO_PROBE:zahler-\u00e9\ud83d\udea8").digest("hex"));
  });

  it.each([
    ["no proof", { errorLogIntegrityProof: null }],
    ["no probe", {}],
    ["a contradicting probe", { independentProbeConfirms: false }],
  ])("refuses a lone surrogate in the identifier, given %s", (_, report) => {
    const evaluate = () => evaluateDisclosureReference({ ...honest, ...report, subagentId: "ab\ude00\ud83d" }, both);
    expect(evaluate).toThrow(CandorError);
    expect(evaluate).toThrow(expect.objectContaining({ code: "malformed", path: "subagentId" }));
    expect(evaluate).toThrow(/index 2/);
  });

  it("never proceeds when a required proof or probe is missing or a probe contradicts", () => {
    const reports = fc.record({
      subagentId: fc.string(),
      reportedSuccess: fc.boolean(),
      errorsDisclosed: fc.array(fc.constant(error)),
      errorLogIntegrityProof: fc.option(fc.string()),
      independentProbeConfirms: fc.option(fc.boolean()),
    });
    const policies = fc.record({ requireStructuredLogProof: fc.boolean(), requireProbeForCritical: fc.boolean() });
    fc.assert(
      fc.property(reports, policies, (report, policy) => {
        const outcome = evaluateDisclosureReference(report, policy);
        const lacking =
          (policy.requireStructuredLogProof && !report.errorLogIntegrityProof) ||
          (policy.requireProbeForCritical && report.independentProbeConfirms === null) ||
          report.independentProbeConfirms === false;
        expect(outcome.directive.startsWith("HALT:")).toBe(lacking);
        expect(outcome.verdict === "FULL_DISCLOSURE_VERIFIED").toBe(!lacking);
      }),
    );
  });
});
