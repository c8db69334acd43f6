import type { DelegatedWork } from "../agents/delegator.js";
import type { FetchWork } from "../agents/fetcher.js";
import { readInventoryBook } from "../services/inventory-client.js";
import { taskOf } from "./demo-task.js";
import { countLookups } from "./lookup-truth.js";
import { verified, type Plan } from "./plan.js";

const limitMs = 120_000;
/** In no store of this shop. */
const unknownItem = "CUP-0001";

/** Where the identities of the chain lie. */
export interface ChainPlace {
  /** Credentials folder and certificate file of an identity. */
  readonly credentials: (role: "agent" | "orchestrator", name: string) => string;
  readonly certificate: (role: "agent" | "orchestrator", name: string) => string;
}

/** The fleets as which the planner and the buyer delegate. */
export const subFleets = ["planners", "buyers"] as const;

/**
 * A task over three layers: the planner has it done by the buyer, the buyer by the clerk, who looks up an item that there
 * is not. The buyer passes the failure up as it is, the planner says less of it.
 */
export function chainPlan(url: string, { credentials, certificate }: ChainPlace): Plan {
  const task = taskOf("planner");
  const lookup: FetchWork = { url, upstream: "catalogue", items: [unknownItem], caller: "clerk" };
  const buy: DelegatedWork = {
    fleet: credentials("orchestrator", "buyers"),
    part: {
      task: `${task.task}-lookup`,
      title: "looks an item up that is in no store",
      agent: "clerk",
      credentials: credentials("agent", "clerk"),
      certificate: certificate("agent", "clerk"),
      keyTasks: [unknownItem],
      work: lookup,
    },
    deed: { did: "passed" },
  };
  const plan: DelegatedWork = {
    fleet: credentials("orchestrator", "planners"),
    part: {
      task: `${task.task}-buy`,
      title: "buys what is missing",
      agent: "buyer",
      credentials: credentials("agent", "buyer"),
      certificate: certificate("agent", "buyer"),
      subFleet: certificate("orchestrator", "buyers"),
      keyTasks: [],
      work: buy,
    },
    deed: { did: "downgraded", type: "partial", finality: "recoverable" },
  };
  return {
    ...task,
    brief: { title: task.title },
    subFleet: certificate("orchestrator", "planners"),
    work: plan,
    limitMs,
    truth: async ({ claim, errors }) => {
      const { lookups, lost } = countLookups(await readInventoryBook(url), "clerk");
      return {
        happened:
          `the clerk looked up what is in no store (lookups: ${lookups}, never found: ${lost}), the buyer passed ` +
          `that up, the planner said less of it`,
        facts: { lookups, lost, claim, toldErrors: errors },
        expected: {
          ...verified("verify"),
          chain: ["clerk failed", "buyer passed", "planner downgraded, a downgrade"],
        },
      };
    },
  };
}
