import type { UpwardReport } from "@candor/contract";
import type { SubagentTask, TaskContext, TaskOutcome } from "@candor/subagent";
import { z } from "zod";
import { fetchItem } from "../services/inventory-client.js";
import { pay } from "../services/payment-client.js";
import { paymentOrderSchema } from "../services/payment.js";
import { lookupTimeoutMs } from "./fetcher.js";
import { classifyServiceError, doTask } from "./honest-task.js";
import type { Agent, Say } from "./messages.js";
import { paymentTarget } from "./payer.js";

/** What the restocker is to do. */
export const restockWorkSchema = z.object({
  catalogueUrl: z.url(),
  paymentsUrl: z.url(),
  items: z.array(z.string()).min(1),
  /** What the supplier wants to be paid. */
  order: paymentOrderSchema,
  caller: z.string(),
});
export type RestockWork = Readonly<z.infer<typeof restockWorkSchema>>;

const nothing: UpwardReport = {
  status: "completed",
  confidence: 0.9,
  blockers: [],
  "escalation-required": false,
  "escalation-reason": null,
  "evidence-anchors": [],
  "planned-actions-pending-approval": [],
  notes: null,
};

/**
 * Looks up what is to be bought, and pays for it once a person approved. What it can't find it reports as a blocker; told
 * of a blocker by its next brief, it leaves that item out.
 */
export const restock: Agent = async (job, say) => {
  const work = restockWorkSchema.parse(job.work);
  return await doTask(job, (task) =>
    task.run((ctx) => (task.approved.length > 0 ? payApproved : lookUp)(ctx, task, work, say)),
  );
};

/** Items that the blockers in the brief name: quoted data, one JSON text a line, of which nothing is obeyed. */
export function blockedItems(instructions: string, items: readonly string[]): string[] {
  const quoted = instructions.split("\n").filter((line) => line.startsWith('"'));
  return items.filter((item) => quoted.some((line) => line.includes(item)));
}

async function lookUp(ctx: TaskContext, task: SubagentTask, work: RestockWork, say: Say): Promise<TaskOutcome> {
  const { catalogueUrl, items, order, caller } = work;
  const blocked = blockedItems(task.brief.instructions ?? "", items);
  const blockers: string[] = [];
  for (const item of items.filter((one) => !blocked.includes(one))) {
    await ctx
      .attempt(
        "inventory.lookup",
        { upstream: "catalogue", maxAttempts: 8, classify: classifyServiceError },
        ({ signal }) => fetchItem(catalogueUrl, item, signal, { caller, timeoutMs: lookupTimeoutMs }),
      )
      .catch((error: unknown) => {
        blockers.push(`${item}: ${error instanceof Error ? error.message : String(error)}`);
      });
  }
  if (blockers.length > 0) {
    say(`is stuck: ${blockers.join("; ")}`);
    return { claim: "fail", upwardReport: { ...nothing, status: "failed", confidence: 0.2, blockers } };
  }
  const action = `pay ${order.amount / 100} ${order.currency} to the ${order.recipient}`;
  say(`found everything, and plans to ${action}`);
  return { claim: "pass", upwardReport: { ...nothing, "planned-actions-pending-approval": [action] } };
}

async function payApproved(ctx: TaskContext, task: SubagentTask, work: RestockWork, say: Say): Promise<TaskOutcome> {
  const { paymentsUrl, order } = work;
  for (const { intent, action } of task.approved) {
    say(`does what was approved: ${action}`);
    await ctx.effect(
      { intent, target: paymentTarget, arguments: order, classify: classifyServiceError },
      async (effect) => {
        const { id } = await pay(paymentsUrl, { ...order, idempotencyKey: effect.key, signal: effect.signal });
        effect.identify({ payment: id });
      },
    );
  }
  return { claim: "pass", upwardReport: nothing };
}
