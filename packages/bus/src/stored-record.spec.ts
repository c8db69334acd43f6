import { describe, expect, it } from "vitest";
import { encodeCanonical, encodeSigned } from "@candor/contract";
import { readRecord } from "./stored-record.js";

const sign = (body: Uint8Array): Uint8Array =>
  encodeSigned({
    body,
    certificate: { role: "guard", name: "g", key: "A".repeat(56), signature: new Uint8Array(64) },
    signature: new Uint8Array(64),
  });
const verdict = "candor.vd.0.r.t.disclosure";

describe("a stored record", () => {
  it("is read as far as its place takes", () => {
    const body = encodeCanonical({ ordinal: 3, verdict: "x" });
    expect(readRecord({ subject: verdict, seq: 9, data: sign(body) })).toEqual({
      subject: verdict,
      seq: 9,
      ordinal: 3,
      body,
    });
  });

  it("a quarantine record is the only one on its subject", () => {
    const body = encodeCanonical({ code: "malformed" });
    expect(readRecord({ subject: "candor.quarantine.0.a.7", seq: 1, data: sign(body) }).ordinal).toBe(1);
  });

  it.each([
    ["no frame", new Uint8Array([1, 2, 3])],
    ["no ordinal", sign(encodeCanonical({}))],
    ["no map", sign(encodeCanonical(7))],
  ])("%s is malformed", (_, data) => {
    expect(() => readRecord({ subject: verdict, seq: 1, data })).toThrow(
      expect.objectContaining({ code: "malformed" }),
    );
  });
});
