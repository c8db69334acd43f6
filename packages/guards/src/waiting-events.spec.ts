import { describe, expect, it } from "vitest";
import type { AdmittedEvent } from "@candor/contract";
import { admit } from "@candor/ledger";
import { acceptedTask, type Scenario } from "../../../test/kit/scenario.js";
import { mostWaitingBytes, WaitingEvents } from "./waiting-events.js";

/** An error of about 224 KB, as an agent may write a thousand of. */
function largeError(s: Scenario): void {
  const identifiers = Object.fromEntries(Array.from({ length: 3 }, (_, i) => [`id${i}`, "x".repeat(250)]));
  const effects = Array.from({ length: 280 }, (_, i) => ({ intent: "i", key: `k${i}`, identifiers }));
  s.agent("t1", "error", { ...s.errorPayload({ recovered: true }), effects });
}

function errorOf(scenario: Scenario): AdmittedEvent {
  const last = scenario.log.at(-1);
  const entry = last && admit(last);
  if (entry?.type !== "event") expect.unreachable();
  return entry;
}

describe("B4 events that wait for a predecessor", () => {
  it("come out as they went in, and hold nothing of the message's bytes", () => {
    const scenario = acceptedTask();
    largeError(scenario);
    const entry = errorOf(scenario);
    const waiting = new WaitingEvents();
    expect(waiting.keep(entry)).toBe(true);
    const { hash, payload, seq, event } = entry;
    expect(waiting.firstOf("error")?.payload).toEqual(payload);
    expect(waiting.firstOf("report")).toBeUndefined();
    const out = waiting.take(event.seq);
    expect(out).toMatchObject({ hash, payload, seq, event, kind: "error" });
    expect(out?.event.payload.buffer.byteLength).toBeLessThan(entry.data.length);
    expect([waiting.size, waiting.firstOf("error")]).toEqual([0, undefined]);
  });

  it("are bounded in bytes, whatever the policy says of their number, and what is beyond is a gap for good", () => {
    const scenario = acceptedTask({ policy: { reorderBuffer: 65_536 } });
    const missing = scenario.record("t1", "error", scenario.errorPayload({ recovered: true }));
    for (let i = 0; i < 25; i += 1) largeError(scenario);
    const kept = scenario.fold.taskView(scenario.run, "t1")?.waiting ?? 0;
    expect(kept).toBeGreaterThan(10);
    expect(kept * errorOf(scenario).event.payload.length).toBeLessThanOrEqual(mostWaitingBytes);
    expect(kept).toBeLessThan(25);
    missing.store();
    scenario.stop("t1", "terminate");
    expect(scenario.last("recall")).toMatchObject({ action: "escalate", findings: ["log-gap"] });
    expect(scenario.replay().last("recall")).toEqual(scenario.last("recall"));
  });

  it("make room for others when their turn has come", () => {
    const scenario = acceptedTask();
    for (let round = 0; round < 3; round += 1) {
      const missing = scenario.record("t1", "error", scenario.errorPayload({ recovered: true }));
      for (let i = 0; i < 12; i += 1) largeError(scenario);
      missing.store();
    }
    scenario.stop("t1", "terminate");
    expect(scenario.last("recall")).toMatchObject({ action: "proceed", findings: [] });
  });
});
