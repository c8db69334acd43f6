import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { isCandorError } from "@candor/contract";
import { findPayment, pay } from "@candor/demo";
import { connectSubagent, type DoubtProbe } from "@candor/subagent";
import type { EffectPoint } from "./effect-points.js";

/** A payer as a process of its own: pays once at a payment service, and waits to be killed where it is told to. */
export interface PayerJob {
  readonly servers: readonly string[];
  readonly credentials: string;
  readonly spoolDir: string;
  readonly tokenFile: string;
  /** Address of the payment service. */
  readonly service: string;
  readonly hold?: EffectPoint["hold"];
}

const order = { amount: 40, currency: "EUR", recipient: "r1" };
const lookUpMs = 20;

function say(word: string): void {
  process.stdout.write(`${word}\n`);
}

async function work({ servers, credentials, spoolDir, tokenFile, service, hold }: PayerJob): Promise<void> {
  const waitAt = async (place: EffectPoint["hold"]): Promise<void> => {
    if (hold !== place) return;
    say("holds");
    await new Promise(() => undefined);
  };
  const probe: DoubtProbe = async ({ key, signal }) => {
    for (;;) {
      const found = await findPayment(service, key, signal);
      if (found === undefined) return { outcome: "absent" };
      if (found.state === "booked")
        return { outcome: "committed", result: found.id, identifiers: { payment: found.id } };
      if (found.state === "declined") return { outcome: "absent" };
      await pause(lookUpMs);
    }
  };
  const agent = await connectSubagent({ servers, credentials, spoolDir });
  const task = await agent.accept(readFileSync(tokenFile, "utf8"));
  await task.run(async (ctx) => {
    await waitAt("before");
    const paid = await ctx.effect({ intent: "charge", covers: "pay", arguments: order, probe }, async (effect) => {
      await waitAt("dispatched");
      const { id } = await pay(service, { ...order, idempotencyKey: effect.key, signal: effect.signal });
      effect.identify({ payment: id });
      await waitAt("answered");
      return id;
    });
    say(`paid ${paid}`);
    await waitAt("done");
    return { claim: "pass" };
  });
  await agent.close();
}

process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
work(JSON.parse(process.argv[2] ?? "{}") as PayerJob).then(
  () => process.exit(0),
  (error: unknown) => {
    say(isCandorError(error) ? error.code : `failed: ${String(error)}`);
    process.exit(1);
  },
);
