import { headers } from "@nats-io/transport-node";
import { describe, expect, it } from "vitest";
import { readLive } from "./live.js";

const stored = "candor.vd.3.r.t.disclosure";
const data = new Uint8Array([1, 2]);

function message(subject: string, fields: readonly (readonly [string, string])[]) {
  const all = headers();
  for (const [name, value] of fields) all.append(name, value);
  return { subject, headers: all, data };
}

const byServer = [
  ["Nats-Stream", "CANDOR_VERDICTS"],
  ["Nats-Subject", stored],
  ["Nats-Sequence", "7"],
  ["Nats-Time-Stamp", "2026-01-01T10:00:00.123456789Z"],
] as const;

describe("B10 a live message", () => {
  it("is read as it was stored", () => {
    expect(readLive(message(`candor.live.${stored.slice(7)}`, byServer))).toEqual({
      subject: stored,
      stream: "CANDOR_VERDICTS",
      sequence: 7,
      storedAtMs: Date.UTC(2026, 0, 1, 10, 0, 0, 123),
      data,
    });
  });

  it("is what the server appended, not what its publisher wrote before", () => {
    const forged = [
      ["Nats-Sequence", "1"],
      ["Nats-Subject", "candor.vd.3.r.other.disclosure"],
    ] as const;
    expect(readLive(message(`candor.live.${stored.slice(7)}`, [...forged, ...byServer]))?.sequence).toBe(7);
  });

  it.each([
    ["under a stored subject, as a push consumer delivers it", message(stored, byServer)],
    ["under another subject", message("candor.live.vd.3.r.other.disclosure", byServer)],
    ["without the server's headers", message(`candor.live.${stored.slice(7)}`, [])],
  ])("is none %s", (_, wrong) => {
    expect(readLive(wrong)).toBeUndefined();
  });
});
