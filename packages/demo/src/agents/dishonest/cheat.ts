import { connectBus } from "@candor/bus";
import type { Report } from "@candor/contract";
import { readCredentials } from "@candor/ledger/files";
import { defaultScope } from "@candor/subagent";
import { fetchWorkSchema } from "../fetcher.js";
import { connectTimeoutMs, type Agent } from "../messages.js";
import { HandMadeChain } from "./hand-made-chain.js";
import { recordedLookups, type LookupResults } from "./recorded-lookups.js";

/** What every cheat here promises to see, which is what the SDK sees. */
export const promisedScope = defaultScope("enforce");

/** How a cheat makes its report from what it knows. */
export type Falsify = (chain: HandMadeChain, results: LookupResults) => Report;

/** An agent that does its work, records it truly, and reports something else. It writes its own chain, past the SDK. */
export function cheat(falsify: Falsify): Agent {
  return async (job, say) => {
    const work = fetchWorkSchema.parse(job.work);
    const credentials = readCredentials(job.credentials);
    const { apiPrefix, connectionSeed, inboxPrefix, name, trust } = credentials;
    const identity = { role: "agent", name } as const;
    const { operator } = trust;
    const bus = await connectBus({
      servers: job.servers,
      identity,
      connectionSeed,
      inboxPrefix,
      apiPrefix,
      operator,
      connectTimeoutMs,
    });
    const chain = await HandMadeChain.accept(bus, credentials, job.token, promisedScope);
    try {
      const report = falsify(chain, await recordedLookups(chain, work, say));
      await chain.write("report", report);
      const { claim, receipts } = report;
      return {
        claim,
        errors: receipts?.errorLog.errors.length ?? 0,
        retries: receipts?.retries.entries.length ?? 0,
        committed: 0,
      };
    } finally {
      chain.close();
      await bus.close();
    }
  };
}
