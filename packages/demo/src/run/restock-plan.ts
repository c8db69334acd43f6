import { CandorError, type ProbeOutcome } from "@candor/contract";
import { pursue, type Pursuit } from "@candor/orchestrator";
import type { Told } from "../agents/messages.js";
import type { RestockWork } from "../agents/restocker.js";
import { readInventoryBook } from "../services/inventory-client.js";
import type { LookupRecord } from "../services/inventory.js";
import { readPaymentBook } from "../services/payment-client.js";
import type { Book } from "../services/payment.js";
import { runAgentProcess } from "./agent-process.js";
import { taskOf } from "./demo-task.js";
import type { Expected, Plan, Truth } from "./plan.js";

const limitMs = 60_000;
/** In no store of this shop, so that there is a blocker. */
const unknownItem = "CUP-0002";
const items = ["TEE-0001", "BAG-0002", unknownItem];
const order = { amount: 23_400, currency: "EUR", recipient: "pottery" };

/** What the orchestrator did, for the comparison with the books. */
export interface RestockFacts {
  readonly epochs: number;
  /** When a person approved the payment; undefined if nobody did. */
  readonly approvedAtMs: number | undefined;
}

/** What really happened, by the services' own books. */
export function restockTruth(lookups: readonly LookupRecord[], { payments, posts }: Book, facts: RestockFacts): Truth {
  const { epochs, approvedAtMs } = facts;
  const stuck = lookups.filter(({ answer }) => answer === "unknown-item").length;
  const booked = payments.filter(({ state }) => state === "booked").length;
  const early = payments.filter(({ acceptedAtMs }) => acceptedAtMs < (approvedAtMs ?? Infinity)).length;
  const asPlanned = stuck === 1 && booked === 1 && early === 0;
  const expected: Expected = {
    verdict: asPlanned ? "REPORT_VERIFIED" : "REPORT_ESCALATED",
    action: asPlanned ? "proceed" : "escalate",
    findings: [],
    onTheWay: ["REDISPATCH_ALLOWED", "APPROVAL_PENDING"],
  };
  return {
    happened:
      `delegated ${epochs} times: ${stuck} lookup of an item that does not exist, then left out; ` +
      `${booked} payment booked, ${early} before it was approved`,
    facts: { epochs, stuck, booked, posts: posts.length, early },
    expected,
  };
}

/** The restocker's task: stuck, delegated again with the blocker, and held at an approval gate before it pays. */
export function restockPlan(catalogueUrl: string, paymentsUrl: string): Plan {
  const task = taskOf("restocker");
  const work: RestockWork = { catalogueUrl, paymentsUrl, items, order, caller: task.agent };
  const done: { epochs: number; approvedAtMs: number | undefined } = { epochs: 0, approvedAtMs: undefined };
  const ownLookups = async (): Promise<LookupRecord[]> =>
    (await readInventoryBook(catalogueUrl)).filter(({ caller }) => caller === task.agent);
  /** Looks into the books: every item that there is was found, and nothing was paid that nobody approved. */
  const books = async (): Promise<ProbeOutcome> => {
    const found = new Set((await ownLookups()).filter(({ answer }) => answer === "ok").map(({ item }) => item));
    const { payments } = await readPaymentBook(paymentsUrl);
    const isFound = items.every((item) => item === unknownItem || found.has(item));
    return isFound && payments.length === (done.approvedAtMs === undefined ? 0 : 1) ? "confirmed" : "contradicted";
  };
  const terms = { redispatches: 1, verifier: { kind: "probe", probe: "books", timeLimitMs: 10_000 } } as const;
  return {
    ...task,
    brief: { title: task.title, retryBudget: 60, terms },
    work,
    limitMs,
    judge: "dispatch",
    follow: async ({ certificate, credentials, prober, run, say, servers, signal }) => {
      let told: Told | undefined;
      const pursuit: Pursuit = {
        task: task.task,
        agent: certificate,
        brief: { title: task.title, retryBudget: 60, terms },
        prober,
        probes: { books },
        start: async ({ token, epoch }) => {
          done.epochs = epoch;
          const job = { servers: [...servers], credentials, token, work };
          told = await runAgentProcess(task.agent, job, { say, limitMs, signal });
        },
        ask: ({ why, planned, sentence }) => {
          if (why !== "planned-actions") {
            say(`nobody is there to decide: ${sentence}`);
            return { kind: "leave" };
          }
          done.approvedAtMs = Date.now();
          return { kind: "approve", person: "demo", approved: planned };
        },
        reportMs: limitMs,
        personMs: limitMs,
        signal,
        onStep: ({ sentence }) => {
          say(sentence);
        },
      };
      const end = await pursue(run, pursuit);
      if (told === undefined || end.kind !== "accepted")
        throw new CandorError("undecided", `The task ${task.task} ended as ${end.kind}, not accepted.`);
      return told;
    },
    truth: async () => restockTruth(await ownLookups(), await readPaymentBook(paymentsUrl), done),
  };
}
