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

/** What each looks up; the dishonest ones look up what gives them something to hide. */
const items = {
  fetcher: everything,
  "retry-hider": everything.slice(0, 3),
  "tail-dropper": ["TEE-0001", "BAG-0002", unknownItem],
} as const satisfies Partial<Record<AgentName, readonly string[]>>;

/** The task of an agent that looks items up. */
export function lookupPlan(agent: keyof typeof items, url: string): Plan {
  const task = taskOf(agent);
  return {
    ...task,
    brief: { title: task.title, keyTasks: items[agent], retryBudget },
    work: { url, items: [...items[agent]], caller: agent } satisfies FetchWork,
    limitMs,
    truth: async (told) => lookupTruth(await readInventoryBook(url), agent, told),
  };
}
