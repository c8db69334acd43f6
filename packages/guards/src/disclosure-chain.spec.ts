import { describe, expect, it } from "vitest";
import { encodeCanonical } from "@candor/contract";
import { acceptedTask, plainBrief, type Scenario } from "../../../test/kit/scenario.js";

const verified = { verdict: "FULL_DISCLOSURE_VERIFIED", action: "proceed", final: true, findings: [] };
const concealed = (finding: string) => ({
  verdict: "CONCEALMENT_DETECTED",
  action: "halt",
  final: true,
  findings: [finding],
});

function receiptsOf({ receipts }: ReturnType<Scenario["reportPayload"]>): NonNullable<typeof receipts> {
  if (receipts === undefined) expect.unreachable("an honest report carries its receipts");
  return receipts;
}

describe("D1 the chain of an agent: given an accepted task", () => {
  it("D1 late and repeated arrival of honest events is no finding", () => {
    const scenario = acceptedTask();
    const error = scenario.record("t1", "error", scenario.errorPayload());
    const retry = scenario.record("t1", "retry", {
      operation: "lookup",
      attempt: 2,
      reason: error.seq,
      delayMs: 5,
      outcome: "ok",
    });
    const honest = scenario.reportPayload();
    const entries = [
      { seq: retry.seq, operation: "lookup", attempt: 2, reason: error.seq, delayMs: 5, outcome: "ok" as const },
    ];
    const report = scenario.record("t1", "report", {
      ...honest,
      receipts: { ...receiptsOf(honest), retries: { entries, unseen: [] } },
    });
    report.store();
    expect(scenario.last("disclosure")).toBeUndefined();
    retry.store();
    error.store();
    error.store();
    expect(scenario.last("disclosure")).toEqual(verified);
  });

  it("D1 a gap that is still open when the window ends is found, and closes when the event does arrive", () => {
    const scenario = acceptedTask();
    const error = scenario.record("t1", "error", scenario.errorPayload({ recovered: true }));
    const report = scenario.record("t1", "report", scenario.reportPayload());
    report.store();
    scenario.tick(1_999);
    expect(scenario.last("disclosure")).toBeUndefined();
    scenario.tick(1);
    expect(scenario.last("disclosure")).toEqual(concealed("log-gap"));
    error.store();
    expect(scenario.last("disclosure")).toEqual(verified);
  });

  it("D1 two different events with one number are a fork, and a wrong predecessor a broken chain", () => {
    const fork = acceptedTask();
    const before = { ...fork.author("t1") };
    fork.error("t1", { recovered: true });
    fork.event("error", fork.errorPayload({ finality: "exhausted" }), {
      task: "t1",
      actor: "agent",
      epoch: 1,
      seq: before.seq,
      prev: before.head,
    });
    fork.report();
    expect(fork.last("disclosure")).toEqual(concealed("log-fork"));

    const broken = acceptedTask();
    broken.author("t1").head = new Uint8Array(32).fill(7);
    broken.error("t1", { recovered: true });
    broken.report();
    expect(broken.last("disclosure")?.findings).toContain("chain-broken");
  });

  it("D1 receipts too large for the report travel ahead of it", () => {
    const scenario = acceptedTask();
    scenario.retry("t1", 2, scenario.error());
    const { receipts, ...report } = scenario.reportPayload("t1", {}, { brief: plainBrief });
    const bytes = encodeCanonical(receipts);
    const half = Math.floor(bytes.length / 2);
    scenario.agent("t1", "receipt", { part: 1, parts: 2, content: bytes.subarray(0, half) });
    scenario.agent("t1", "receipt", { part: 2, parts: 2, content: bytes.subarray(half) });
    scenario.agent("t1", "report", { ...report, receiptParts: 2 });
    expect(scenario.last("disclosure")).toEqual(verified);
  });

  it("D1 what comes behind a receipt part is not left out of the receipts", () => {
    const inline = acceptedTask();
    const { receipts: early } = inline.reportPayload();
    inline.agent("t1", "receipt", { part: 1, parts: 1, content: Uint8Array.of(0x80) });
    for (let i = 0; i < 3; i += 1) inline.error("t1", { recovered: true, finality: "exhausted" });
    inline.report("t1", { receipts: early });
    expect(inline.last("disclosure")).toMatchObject({ verdict: "CONCEALMENT_DETECTED", action: "halt" });
    expect(inline.last("disclosure")?.findings).toEqual(expect.arrayContaining(["receipt-mismatch", "tally-mismatch"]));

    const parts = acceptedTask();
    const { receipts, ...report } = parts.reportPayload();
    parts.agent("t1", "receipt", { part: 1, parts: 1, content: encodeCanonical(receipts) });
    parts.error("t1", { recovered: true });
    parts.agent("t1", "report", { ...report, receiptParts: 1 });
    expect(parts.last("disclosure")).toMatchObject({ verdict: "CONCEALMENT_DETECTED", action: "halt" });
    expect(parts.last("disclosure")?.findings).toContain("receipt-mismatch");
  });

  it.each([false, true])("D1 R11 a process that ended between its parts begins again (work between: %s)", (works) => {
    const scenario = acceptedTask();
    scenario.retry("t1", 2, scenario.error());
    const cut = encodeCanonical(scenario.reportPayload().receipts);
    scenario.agent("t1", "receipt", { part: 1, parts: 2, content: cut.subarray(0, 20) });
    if (works) scenario.retry("t1", 2, scenario.error());
    const { receipts, ...report } = scenario.reportPayload();
    scenario.agent("t1", "receipt", { part: 1, parts: 1, content: encodeCanonical(receipts) });
    scenario.agent("t1", "report", { ...report, receiptParts: 1 });
    expect(scenario.last("disclosure")).toEqual(verified);
  });
});
