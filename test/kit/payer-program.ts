import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { connectSubagent } from "@candor/subagent";
import { isCandorError } from "@candor/contract";
import { pay } from "@candor/demo";

/**
 * A subagent as a process of its own: pays once (a line in a file stands for the payment service), then reads, which
 * fails until the file `ready` is there. It says what it does on its standard output, a word a line.
 */
interface Job {
  readonly servers: readonly string[];
  readonly credentials: string;
  readonly spoolDir: string;
  readonly tokenFile: string;
  readonly payments: string;
  /** Address of a payment service to pay at, instead of the file. */
  readonly service?: string;
  readonly ready: string;
  /** Pause between tries. */
  readonly delayMs: number;
}

const say = (word: string): void => {
  process.stdout.write(`${word}\n`);
};

async function work(job: Job): Promise<void> {
  const { servers, credentials, spoolDir, tokenFile, payments, ready, delayMs, service } = job;
  const agent = await connectSubagent({ servers, credentials, spoolDir });
  try {
    const task = await agent.accept(readFileSync(tokenFile, "utf8"));
    say("accepted");
    const result = await task.run(async (ctx) => {
      await ctx
        .effect({ intent: "charge", covers: "pay" }, async (effect) => {
          await new Promise((resolve) => setTimeout(resolve, 10));
          if (service === undefined) appendFileSync(payments, `${effect.key}\n`);
          else await pay(service, { amount: 40, currency: "EUR", recipient: "r1", idempotencyKey: effect.key });
        })
        .catch((error: unknown) => {
          if (isCandorError(error)) say(error.code);
          throw error;
        });
      say("paid");
      await ctx.attempt("read", { covers: "read", maxAttempts: 8, delayMs }, () => {
        if (existsSync(ready)) return;
        say("failed");
        throw Object.assign(new TypeError("not ready"), { status: 503 });
      });
      return { claim: "pass", summary: "paid and read" };
    });
    say(`reported-${result.claim}`);
  } finally {
    await agent.close();
  }
}

process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
work(JSON.parse(process.argv[2] ?? "{}") as Job).then(
  () => process.exit(0),
  (error: unknown) => {
    say(isCandorError(error) ? error.code : `failed: ${String(error)}`);
    process.exit(1);
  },
);
