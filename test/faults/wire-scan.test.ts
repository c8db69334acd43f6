import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { WireScan } from "./wire-scan.js";

const said = Buffer.from(
  [
    'CONNECT {"verbose":false}\r\nPING\r\nSUB _IN.guard.g1.* 1\r\n',
    "PUB candor.in.guard.guard.r.t.timer _IN.1 5\r\nhello\r\n",
    "HPUB candor.vd.0.r.t.intent _IN.2 12 21\r\nNATS/1.0\r\n\r\nPUB x 4\r\n\r\n",
    "PUB bare 0\r\n\r\nPONG\r\n",
  ].join(""),
);
const subjects = ["candor.in.guard.guard.r.t.timer", "candor.vd.0.r.t.intent", "bare"];

function scanIn(pieces: readonly Buffer[]): { subject: string; end: number }[] {
  const scan = new WireScan();
  let before = 0;
  return pieces.flatMap((piece) => {
    const seen = scan.take(piece).map(({ subject, end }) => ({ subject, end: end + before }));
    before += piece.length;
    return seen;
  });
}

describe("what a client sends", () => {
  it("names each publish where it ends, payloads that look like commands included", () => {
    const seen = scanIn([said]);
    expect(seen.map(({ subject }) => subject)).toEqual(subjects);
    expect(said.subarray(0, seen[1]?.end).toString()).toMatch(/PUB x 4\r\n\r\n$/);
  });

  it("sees the same however it is cut into pieces", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: said.length - 1 }), { maxLength: 12 }), (cuts) => {
        const at = [0, ...cuts.sort((a, b) => a - b), said.length];
        const pieces = at.slice(1).map((end, i) => said.subarray(at[i], end));
        expect(scanIn(pieces)).toEqual(scanIn([said]));
      }),
    );
  });
});
