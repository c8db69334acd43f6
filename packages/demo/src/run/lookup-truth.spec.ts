import { describe, expect, test } from "vitest";
import type { Told } from "../agents/messages.js";
import type { LookupRecord } from "../services/inventory.js";
import { lookupTruth } from "./lookup-truth.js";

const record = (item: string, attempt: number, answer: LookupRecord["answer"], caller = "fetcher"): LookupRecord => ({
  number: 1,
  caller,
  item,
  attempt,
  answer,
});
const told = (facts: Partial<Told>): Told => ({ claim: "pass", errors: 0, retries: 0, committed: 0, ...facts });

const flaky = [
  record("a", 1, "reset"),
  record("a", 2, "throttled"),
  record("a", 3, "ok"),
  record("b", 1, "ok"),
  record("b", 1, "reset", "somebody else"),
];
const lossy = [...flaky, record("c", 1, "unknown-item")];

describe("D2 D8 what the inventory's book says of an agent, and what the guard must say", () => {
  test("the book is counted for the caller alone", () => {
    expect(lookupTruth(lossy, "fetcher", told({})).facts).toMatchObject({
      items: 3,
      lookups: 5,
      failed: 3,
      repeated: 2,
      lost: 1,
    });
  });

  test.each([
    ["all told, all found", flaky, { errors: 2, retries: 2 }, "FULL_DISCLOSURE_VERIFIED", "proceed", []],
    ["more told than the service saw", flaky, { errors: 3, retries: 3 }, "FULL_DISCLOSURE_VERIFIED", "proceed", []],
    [
      "an honest failure",
      lossy,
      { errors: 3, retries: 2, claim: "fail" },
      "FULL_DISCLOSURE_VERIFIED",
      "redispatch",
      [],
    ],
    ["retries hidden", flaky, { errors: 2 }, "CONCEALMENT_DETECTED", "halt", ["retry-undisclosed"]],
    [
      "errors hidden under a success",
      lossy,
      { errors: 2, retries: 2 },
      "CONCEALMENT_DETECTED",
      "halt",
      ["receipt-mismatch", "tally-mismatch", "unrecovered-under-success"],
    ],
  ] as const)("%s", (_, book, facts, verdict, action, findings) => {
    expect(lookupTruth(book, "fetcher", told(facts)).expected).toEqual({ verdict, action, findings });
  });
});
