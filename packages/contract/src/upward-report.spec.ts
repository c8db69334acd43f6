import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkUpwardReport, reportFields, reportStatuses, type UpwardReport } from "./upward-report.js";
import { reportReasonClasses } from "./report-refusals.js";

const good = {
  status: "completed",
  confidence: 0.9,
  blockers: [],
  "escalation-required": false,
  "escalation-reason": null,
  "evidence-anchors": ["src/a.ts:4"],
  "planned-actions-pending-approval": [],
  notes: "all targeted tests pass",
} as const;

const item = fc.string({ minLength: 1 }).filter((text) => text.trim() !== "");
const reports: fc.Arbitrary<UpwardReport> = fc
  .record({
    status: fc.constantFrom(...reportStatuses),
    confidence: fc.double({ min: 0, max: 1, noNaN: true }),
    blockers: fc.array(item),
    "escalation-required": fc.boolean(),
    "escalation-reason": fc.option(fc.string()),
    "evidence-anchors": fc.array(item),
    "planned-actions-pending-approval": fc.array(item),
    notes: fc.option(fc.string().filter((text) => !/[\r\n]/.test(text))),
  })
  .filter(({ status, blockers }) => status !== "blocked" || blockers.length > 0);

/** Class and path of the refusal, or undefined. */
function refusalOf(value: unknown): readonly [string, string] | undefined {
  const reading = checkUpwardReport(value);
  return reading.ok ? undefined : [reading.refusal.reasonClass, reading.refusal.path];
}

describe("U1 the object form of an upward report", () => {
  it("is taken as it is", () => {
    expect(checkUpwardReport(good)).toEqual({ ok: true, report: good, ignored: [] });
  });

  it.each([
    ["wrong-root", "upward-report", "completed"],
    ["wrong-root", "upward-report", [good]],
    ["wrong-root", "upward-report", null],
    ["missing-field", "upward-report.confidence", { ...good, confidence: undefined }],
    ["missing-field", "upward-report.status", {}],
    ["invalid-status", "upward-report.status", { ...good, status: "Completed" }],
    ["confidence-not-number", "upward-report.confidence", { ...good, confidence: "0.9" }],
    ["confidence-out-of-range", "upward-report.confidence", { ...good, confidence: Number.NaN }],
    ["confidence-out-of-range", "upward-report.confidence", { ...good, confidence: 1.0000001 }],
    ["confidence-out-of-range", "upward-report.confidence", { ...good, confidence: -Infinity }],
    ["not-boolean", "upward-report.escalation-required", { ...good, "escalation-required": "false" }],
    ["not-a-list", "upward-report.blockers", { ...good, blockers: "none" }],
    ["item-not-string", "upward-report.evidence-anchors[1]", { ...good, "evidence-anchors": ["a", 4] }],
    ["item-not-string", "upward-report.blockers[0]", { ...good, blockers: new Array<string>(3) }],
    ["empty-item", "upward-report.blockers[0]", { ...good, blockers: [" \t"] }],
    ["missing-blockers", "upward-report.blockers", { ...good, status: "blocked" }],
    ["missing-escalation-reason", "upward-report.escalation-reason", { ...good, "escalation-reason": ["x"] }],
    ["notes-not-one-line", "upward-report.notes", { ...good, notes: "one\ntwo" }],
    ["notes-not-one-line", "upward-report.notes", { ...good, notes: "one\rtwo" }],
    ["notes-not-string", "upward-report.notes", { ...good, notes: 7 }],
  ])("refuses with %s at %s", (reasonClass, path, value) => {
    expect(refusalOf(value)).toEqual([reasonClass, path]);
  });

  it("takes null lists, a missing reason and one line with its end", () => {
    const rest = Object.entries(good).filter(([name]) => name !== "escalation-reason");
    expect(checkUpwardReport({ ...Object.fromEntries(rest), blockers: null, notes: "one line\n" })).toMatchObject({
      ok: true,
      report: { blockers: [], "escalation-reason": null, notes: "one line\n" },
    });
  });

  it("names unknown fields, and no more than a few", () => {
    expect(checkUpwardReport({ ...good, "parent-action": "accept" })).toMatchObject({ ignored: ["parent-action"] });
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`${"x".repeat(200)}${index}`, 1]));
    const reading = checkUpwardReport({ ...good, ...many });
    expect(reading.ok && reading.ignored.length).toBe(20);
    expect(reading.ok && reading.ignored.every((name) => name.length === 80)).toBe(true);
  });

  it("takes own properties only, and runs no getter", () => {
    expect(refusalOf(Object.create(good))).toEqual(["missing-field", "upward-report.status"]);
    const trap = Object.defineProperty({ ...good }, "status", {
      get: () => expect.unreachable("was run"),
    });
    expect(refusalOf(trap)).toEqual(["missing-field", "upward-report.status"]);
  });

  it("a proxy that lets nobody look is no report", () => {
    const never = (): never => { throw new TypeError("no"); }; // prettier-ignore
    const { proxy: revoked, revoke } = Proxy.revocable({}, {});
    revoke();
    const closed = { get: never, ownKeys: never, getOwnPropertyDescriptor: never };
    const list = new Proxy(["src/a.ts:1"], closed);
    for (const value of [revoked, new Proxy({ ...good }, { ownKeys: never }), { ...good, blockers: list }])
      expect(refusalOf(value)).toEqual(["wrong-root", "upward-report"]);
  });

  it("never throws, and says a class and a path for anything", () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true, withSparseArray: true, withBigInt: true }), (value) => {
        const reading = checkUpwardReport(value);
        if (reading.ok) return;
        expect(Object.keys(reportReasonClasses)).toContain(reading.refusal.reasonClass);
        expect(reading.refusal.path).toMatch(/^upward-report/);
        expect(reading.refusal.sentence.length).toBeLessThan(200);
      }),
    );
  });

  it("never throws for a report with one field replaced", () => {
    fc.assert(
      fc.property(reports, fc.constantFrom(...reportFields), fc.anything(), (report, name, value) => {
        const reading = checkUpwardReport({ ...report, [name]: value });
        if (!reading.ok) expect(reading.refusal.path).toMatch(/^upward-report\./);
      }),
    );
  });

  it("goes there and back through JSON", () => {
    fc.assert(
      fc.property(reports, (report) => {
        expect(checkUpwardReport(report)).toEqual({ ok: true, report, ignored: [] });
        const again = checkUpwardReport(JSON.parse(JSON.stringify(report)));
        expect(again).toEqual({ ok: true, report: JSON.parse(JSON.stringify(report)) as unknown, ignored: [] });
      }),
    );
  });
});
