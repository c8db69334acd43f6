import type { AgentName } from "../agents/messages.js";
import type { FetchWork } from "../agents/fetcher.js";
import { readInventoryBook } from "../services/inventory-client.js";
import { defaultStock } from "../services/inventory-service.js";
import { taskOf } from "./demo-task.js";
import { lookupTruth } from "./lookup-truth.js";
import type { Plan } from "./plan.js";

const limitMs = 60_000;
/** Enough for the service's worst day; what an agent uses of it shows in its manifest. */
const retryBudget = 60;
/** In no store of this shop. */
const unknownItem = "CUP-0001";

const everything = Object.keys(defaultStock);

/** What each looks up, and where; the dishonest ones look up what gives them something to hide. */
const lookups = {
  fetcher: { upstream: "inventory", items: everything },
  "retry-hider": { upstream: "inventory", items: everything.slice(0, 3) },
  "tail-dropper": { upstream: "catalogue", items: ["TEE-0001", "BAG-0002", unknownItem] },
} as const satisfies Partial<Record<AgentName, Pick<FetchWork, "items" | "upstream">>>;

/** Where the services listen that know the items. */
export type ItemServices = Readonly<Record<(typeof lookups)[keyof typeof lookups]["upstream"], string>>;

/** The task of an agent that looks items up. */
export function lookupPlan(agent: keyof typeof lookups, urls: ItemServices): Plan {
  const task = taskOf(agent);
  const { items, upstream } = lookups[agent];
  const url = urls[upstream];
  return {
    ...task,
    brief: { title: task.title, keyTasks: items, retryBudget },
    work: { url, upstream, items: [...items], caller: agent } satisfies FetchWork,
    limitMs,
    truth: async (told) => lookupTruth(await readInventoryBook(url), agent, told),
  };
}
