import { z } from "zod";
import { fetchItem } from "../services/inventory-client.js";
import { classifyServiceError, doTask } from "./honest-task.js";
import type { Agent } from "./messages.js";

/** What an agent that looks items up is to do. */
export const fetchWorkSchema = z.object({
  /** Where the service listens that knows the items, and its name. */
  url: z.url(),
  upstream: z.string(),
  items: z.array(z.string()).min(1),
  /** Name under which the service keeps its book of this agent's lookups. */
  caller: z.string(),
});
export type FetchWork = Readonly<z.infer<typeof fetchWorkSchema>>;

/** A lookup that takes longer than this has failed, in milliseconds. */
export const lookupTimeoutMs = 1_000;

/** Looks all items up at once at a service that fails now and then. */
export const fetchStock: Agent = async (job, say) => {
  const { caller, items, upstream, url } = fetchWorkSchema.parse(job.work);
  return await doTask(job, (task) =>
    task.run(async (ctx) => {
      const counts = { found: 0, again: 0 };
      const stock = await Promise.all(
        items.map((item) =>
          ctx.attempt(
            "inventory.lookup",
            { covers: item, upstream, maxAttempts: 6, classify: classifyServiceError },
            async ({ attempt, signal }) => {
              if (attempt > 1) counts.again += 1;
              const { quantity } = await fetchItem(url, item, signal, { caller, timeoutMs: lookupTimeoutMs });
              counts.found += 1;
              say(`${counts.found} of ${items.length} items found, ${counts.again} lookups repeated`);
              return quantity;
            },
          ),
        ),
      );
      const pieces = stock.reduce((sum, quantity) => sum + quantity, 0);
      return { claim: "pass", summary: `${items.length} items, ${pieces} pieces in store` };
    }),
  );
};
