import { describe, expect, test } from "vitest";
import type { Book, Payment } from "../services/payment.js";
import { PaymentWatch, paymentTruth } from "./payment-plan.js";

const payment = (acceptedAtMs: number, settledAtMs?: number): Payment => ({
  id: "1",
  key: String(acceptedAtMs),
  amount: 1,
  currency: "EUR",
  recipient: "somebody",
  state: settledAtMs === undefined ? "in-flight" : "booked",
  acceptedAtMs,
  ...(settledAtMs === undefined ? {} : { settledAtMs }),
});
const book = (...payments: readonly Payment[]): Book => ({ payments: [...payments], posts: [] });

describe("R3 R7 what the payment service's book says, and what the guard must say", () => {
  test("one paid before the recall, one in flight at it, none after", () => {
    const { expected, facts } = paymentTruth(book(payment(100, 200), payment(200, 400)), 300);
    expect(facts).toMatchObject({ booked: 2, inFlight: 1, afterRecall: 0 });
    expect(expected).toMatchObject({ verdict: "RECALL_ACTIVE", onTheWay: ["RECALL_INFLIGHT_ACTIONS_PENDING"] });
  });

  test("a payment that started after the recall is a ghost action", () => {
    expect(paymentTruth(book(payment(100, 200), payment(310, 400)), 300).expected.verdict).toBe(
      "GHOST_ACTION_DETECTED",
    );
  });

  test("a payment that never ended is left to reconcile", () => {
    expect(paymentTruth(book(payment(100, 200), payment(200)), 300).expected).toMatchObject({
      verdict: "RECALL_COMPLETION_GRACE_EXPIRED",
      action: "reconcile",
    });
  });
});

describe("the watch on the payment service", () => {
  test("waits for the second payment that was accepted", async () => {
    const watch = new PaymentWatch();
    const seen: string[] = [];
    const waiting = watch.inFlight(new AbortController().signal).then(() => seen.push("in flight"));
    for (const entry of ["accepted", "settled", "other"]) watch.see({ entry });
    watch.see(undefined);
    await new Promise(setImmediate);
    expect(seen).toEqual([]);
    watch.see({ entry: "accepted" });
    await waiting;
    expect(seen).toEqual(["in flight"]);
  });

  test("ends with the payer", async () => {
    const over = new AbortController();
    const waiting = new PaymentWatch().inFlight(over.signal);
    over.abort();
    await expect(waiting).rejects.toMatchObject({ code: "undecided" });
    await expect(new PaymentWatch().inFlight(AbortSignal.abort())).rejects.toMatchObject({ code: "undecided" });
  });
});
