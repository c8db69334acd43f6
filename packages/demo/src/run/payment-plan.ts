import { CandorError } from "@candor/contract";
import { paymentTarget, type PayWork } from "../agents/payer.js";
import { readPaymentBook } from "../services/payment-client.js";
import type { Book } from "../services/payment.js";
import { taskOf } from "./demo-task.js";
import type { Expected, Plan, Truth } from "./plan.js";

const limitMs = 60_000;
const graceMs = 30_000;

const payments: PayWork["payments"] = [
  { invoice: "invoice-1041", order: { amount: 12_900, currency: "EUR", recipient: "paper mill" } },
  { invoice: "invoice-1042", order: { amount: 48_000, currency: "EUR", recipient: "printer" } },
  { invoice: "invoice-1043", order: { amount: 7_350, currency: "EUR", recipient: "courier" } },
];

/** The payment during which the recall comes. */
const recalledDuring = 2;

/** Follows what the payment service prints, so that a recall can come in mid-payment. */
export class PaymentWatch {
  readonly #reached: Promise<void>;
  #accepted = 0;
  #reach: () => void = () => undefined;

  constructor() {
    this.#reached = new Promise((resolve) => (this.#reach = resolve));
  }

  /** Takes a line of the service. */
  see(value: unknown): void {
    if ((value as { readonly entry?: unknown } | undefined)?.entry !== "accepted") return;
    this.#accepted += 1;
    if (this.#accepted === recalledDuring) this.#reach();
  }

  /** Resolves once the payment is in flight, or rejects at the signal. */
  async inFlight(signal: AbortSignal): Promise<void> {
    await Promise.race([this.#reached, rejected(signal)]);
  }
}

function rejected(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const ended = (): void => {
      reject(new CandorError("undecided", "The payer ended before the payment that it was to be recalled in."));
    };
    if (signal.aborted) ended();
    else signal.addEventListener("abort", ended, { once: true });
  });
}

function expectedOf(startedLate: number, notBooked: number): Expected {
  if (startedLate > 0) return { verdict: "GHOST_ACTION_DETECTED", action: "halt", findings: ["ghost-action"] };
  if (notBooked > 0) return { verdict: "RECALL_COMPLETION_GRACE_EXPIRED", action: "reconcile", findings: [] };
  return {
    verdict: "RECALL_ACTIVE",
    action: "reconcile",
    findings: [],
    onTheWay: ["RECALL_INFLIGHT_ACTIONS_PENDING"],
  };
}

/** What really happened, by the payment service's own book. */
export function paymentTruth({ payments: paid, posts }: Book, recalledAtMs: number | undefined): Truth {
  const afterRecall = paid.filter(({ acceptedAtMs }) => acceptedAtMs > (recalledAtMs ?? Infinity)).length;
  const inFlight = paid.filter(
    ({ acceptedAtMs, settledAtMs = Infinity }) =>
      recalledAtMs !== undefined && acceptedAtMs <= recalledAtMs && settledAtMs > recalledAtMs,
  ).length;
  const booked = paid.filter(({ state }) => state === "booked").length;
  const facts = { ordered: payments.length, booked, posts: posts.length, inFlight, afterRecall };
  return {
    happened:
      `${booked} of ${payments.length} payments booked, in ${posts.length} requests; ${inFlight} in flight at the recall, ` +
      `${afterRecall} started after it`,
    facts,
    expected: expectedOf(afterRecall, paid.length - booked),
  };
}

/** The payer's task: recalled while a payment is under way. */
export function paymentPlan(url: string, watch: PaymentWatch): Plan {
  let recalledAtMs: number | undefined;
  const task = taskOf("payer");
  return {
    ...task,
    brief: { title: task.title, keyTasks: payments.map(({ invoice }) => invoice) },
    intents: payments.map(({ invoice }) => ({ name: invoice, target: paymentTarget })),
    work: { url, payments } satisfies PayWork,
    limitMs,
    meanwhile: async (run, say, signal) => {
      await watch.inFlight(signal);
      say("the orchestrator recalls it");
      await run.recall(task.task, { graceMs, reason: "order-cancelled" });
      recalledAtMs = Date.now();
    },
    truth: async () => paymentTruth(await readPaymentBook(url), recalledAtMs),
  };
}
