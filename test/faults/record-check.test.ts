import { describe, expect, it } from "vitest";
import { compareRecords, type ExpectedRecord, type FoundRecord } from "./record-check.js";

const record = (subject: string, ordinal: number, content = ordinal): ExpectedRecord => ({
  subject,
  ordinal,
  body: Uint8Array.of(content),
});
const found = (...list: ExpectedRecord[]): FoundRecord[] => list.map((one) => ({ ...one, isAuthentic: true }));

const log = [record("a", 1), record("b", 1), record("a", 2)];
const [a1, b1, a2] = log as [ExpectedRecord, ExpectedRecord, ExpectedRecord];
const none = { doubled: 0, missing: 0, outOfOrder: 0, differing: 0 };

describe("what is stored, beside what the log gives", () => {
  it.each([
    ["each once and in order, subjects mixed in another way", found(b1, a1, a2), none],
    ["one twice", found(a1, b1, a1, a2), { ...none, doubled: 1 }],
    ["one not at all", found(a1, b1), { ...none, missing: 1 }],
    ["two the wrong way round", found(a2, b1, a1), { ...none, outOfOrder: 1 }],
    ["one with another content", found(a1, b1, record("a", 2, 9)), { ...none, differing: 1 }],
    ["one that nothing in the log calls for", found(a1, b1, a2, record("c", 1)), { ...none, differing: 1 }],
    ["one that no guard signed", [...found(a1, b1), { ...a2, isAuthentic: false }], { ...none, differing: 1 }],
  ])("%s", (_, stored, counts) => {
    expect(compareRecords(log, stored)).toEqual(counts);
  });
});
