import { z } from "zod";
import { pay } from "../services/payment-client.js";
import { paymentOrderSchema } from "../services/payment.js";
import { classifyServiceError, doTask } from "./honest-task.js";
import type { Agent } from "./messages.js";

/** What the payer is to do. */
export const payWorkSchema = z.object({
  /** Where the payment service listens. */
  url: z.url(),
  /** In the order in which they are paid; `invoice` is the name under which the delegation minted a key. */
  payments: z.array(z.object({ invoice: z.string(), order: paymentOrderSchema })).min(1),
});
export type PayWork = Readonly<z.infer<typeof payWorkSchema>>;

/** Where the payments go, as the delegation names it. */
export const paymentTarget = "payments";

/**
 * Pays one invoice after the other, each under the key that was minted for it. A recall needs no code here: the SDK
 * answers it with the in-flight manifest, lets the payment under way end, and refuses the next.
 */
export const payInvoices: Agent = async (job, say) => {
  const { payments, url } = payWorkSchema.parse(job.work);
  return await doTask(job, async (task) => {
    task.signal.addEventListener("abort", () => {
      say("recalled; says what is in flight");
    });
    return await task.run(async (ctx) => {
      for (const { invoice, order } of payments) {
        await ctx.effect(
          {
            intent: invoice,
            target: paymentTarget,
            covers: invoice,
            arguments: order,
            classify: classifyServiceError,
          },
          async (effect) => {
            say(`pays ${invoice}`);
            const { id } = await pay(url, { ...order, idempotencyKey: effect.key, signal: effect.signal });
            effect.identify({ payment: id });
            say(`${invoice} is paid`);
          },
        );
      }
      return { claim: "pass", summary: `${payments.length} invoices paid` };
    });
  });
};
