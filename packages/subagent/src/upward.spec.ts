import type { Claim, UpwardReport } from "@candor/contract";
import { createDataKey, proseDigest, unseal } from "@candor/ledger";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Prose } from "./prose.js";
import { readOutcome } from "./report.js";
import { readUpward, sealUpward } from "./upward.js";

const completed: UpwardReport = {
  status: "completed",
  confidence: 0.9,
  blockers: [],
  "escalation-required": false,
  "escalation-reason": null,
  "evidence-anchors": ["src/a.ts:4"],
  "planned-actions-pending-approval": ["deploy to production"],
  notes: null,
};

function refusalOf(value: unknown, claim: Claim = "pass"): { code: unknown; path: unknown } {
  try {
    readUpward(value, claim);
  } catch (error) {
    const { code, path } = error as { code: unknown; path: unknown };
    return { code, path };
  }
  return expect.unreachable("was read");
}

describe("U1 F9 an upward report at the agent's boundary", () => {
  it.each([
    ["upward-report.confidence", { confidence: Number.NaN }],
    ["upward-report.confidence", { confidence: 1.01 }],
    ["upward-report.confidence", { confidence: "0.9" }],
    ["upward-report.status", { status: "done" }],
    ["upward-report.status", { status: "failed" }],
    ["upward-report.blockers", { blockers: "none" }],
    ["upward-report.blockers[1]", { blockers: ["a", 1] }],
    ["upward-report.escalation-required", { "escalation-required": "no" }],
    ["upward-report.notes", { notes: "two\nlines" }],
  ])("is refused at %s: %j", (path, change) => {
    expect(refusalOf({ ...completed, ...change })).toEqual({ code: "bad-argument", path });
  });

  it.each([
    ["upward-report.status", { ...completed, status: undefined }],
    ["upward-report", "completed"],
    ["upward-report", [completed]],
  ])("is refused where %s is missing or no mapping", (path, value) => {
    expect(refusalOf(value)).toEqual({ code: "bad-argument", path });
  });

  it("runs nothing of the value", () => {
    let ran = 0;
    const trap = Object.defineProperty({ ...completed }, "status", {
      get: () => {
        ran += 1;
        return "completed";
      },
    });
    expect(refusalOf(trap).path).toBe("upward-report.status");
    expect(ran).toBe(0);
  });

  it("of megabytes, or of very many items, is refused and not cut", () => {
    expect(refusalOf({ ...completed, blockers: ["x".repeat(2_000_000)] })).toEqual({
      code: "too-large",
      path: "upward-report",
    });
    expect(refusalOf({ ...completed, "evidence-anchors": Array(101).fill("x") })).toEqual({
      code: "too-large",
      path: "upward-report.evidence-anchors",
    });
  });

  it("has one number of its own", () => {
    const outcome = { claim: "pass", upwardReport: completed };
    expect(readOutcome(outcome)).toMatchObject({ selfReportedConfidence: 0.9 });
    expect(readOutcome({ ...outcome, selfReportedConfidence: 0.9 })).toMatchObject({ selfReportedConfidence: 0.9 });
    expect(() => readOutcome({ ...outcome, selfReportedConfidence: 0.5 })).toThrow(/two numbers/);
  });
});

describe("Q5 U4 on the wire", () => {
  it("its prose is sealed, and a planned action is named by a digest of the text that stands there", () => {
    const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 200 }).filter((one) => one.trim() !== "");
    fc.assert(
      fc.property(fc.array(text, { maxLength: 5 }), (actions) => {
        const key = createDataKey();
        const upward = sealUpward({ ...completed, "planned-actions-pending-approval": actions }, new Prose(key));
        for (const { text: sealed, digest } of upward.planned)
          expect(proseDigest(unseal(sealed, key), key)).toEqual(digest);
        expect(upward.planned).toHaveLength(actions.length);
      }),
    );
  });

  it("a secret in it is taken out, and the digest is of what is left", () => {
    const key = createDataKey();
    const [planned] = sealUpward(
      { ...completed, "planned-actions-pending-approval": ["push with ghp_0123456789abcdefghijklmnopqrstuvwxyz"] },
      new Prose(key),
    ).planned;
    const text = unseal(planned?.text ?? new Uint8Array(), key);
    expect(text).not.toContain("0123456789abcdef");
    expect(planned?.digest).toEqual(proseDigest(text, key));
  });
});
