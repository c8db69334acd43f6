import { describe, expect, test } from "vitest";
import { blockedItems } from "../agents/restocker.js";
import type { LookupRecord } from "../services/inventory.js";
import type { Book, Payment } from "../services/payment.js";
import { restockTruth } from "./restock-plan.js";

const lookup = (item: string, answer: LookupRecord["answer"]): LookupRecord => ({
  number: 1,
  caller: "restocker",
  item,
  attempt: 1,
  answer,
});
const payment = (acceptedAtMs: number): Payment => ({
  id: "1",
  key: "k",
  amount: 1,
  currency: "EUR",
  recipient: "pottery",
  state: "booked",
  acceptedAtMs,
  settledAtMs: acceptedAtMs,
});
const book = (...payments: readonly Payment[]): Book => ({ payments: [...payments], posts: [] });
const lookups = [lookup("a", "ok"), lookup("b", "unknown-item")];

describe("U2 U4 what the books say of the restocker, and what the guard must say", () => {
  test.each([
    ["stuck once, paid once, after the approval", lookups, book(payment(20)), "REPORT_VERIFIED"],
    ["paid before the approval", lookups, book(payment(5)), "REPORT_ESCALATED"],
    ["paid twice", lookups, book(payment(20), payment(21)), "REPORT_ESCALATED"],
    ["stuck twice: the blocker did not reach it", [...lookups, ...lookups], book(payment(20)), "REPORT_ESCALATED"],
  ] as const)("%s", (_, found, paid, verdict) => {
    expect(restockTruth(found, paid, { epochs: 3, approvedAtMs: 10 }).expected.verdict).toBe(verdict);
  });

  test("a blocker is looked for in quoted lines alone", () => {
    const items = ["TEE-0001", "CUP-0002"];
    const instructions = 'Buy TEE-0001 and CUP-0002.\n\nBlockers\n"CUP-0002: status 404"';
    expect(blockedItems(instructions, items)).toEqual(["CUP-0002"]);
    expect(blockedItems("Buy TEE-0001.", items)).toEqual([]);
  });
});
