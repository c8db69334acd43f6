import { setTimeout as pause } from "node:timers/promises";
import type { Coverage, Finality, Payload, Report } from "@candor/contract";
import { toFailure } from "@candor/subagent";
import { fetchItem } from "../../services/inventory-client.js";
import { lookupTimeoutMs, type FetchWork } from "../fetcher.js";
import { classifyServiceError } from "../honest-task.js";
import type { Say } from "../messages.js";
import type { HandMadeChain } from "./hand-made-chain.js";

const mostAttempts = 6;
const operation = "inventory.lookup";
const firstDelayMs = 50;

type Prior = Payload<"error">["attempts"][number];

/** What the lookups came to. */
export interface LookupResults {
  readonly coverage: Coverage;
  readonly work: Report["work"];
}

/** Looks one item up until it is found, or until trying again is no use. Every error and retry is recorded as it happens. */
async function lookUp(chain: HandMadeChain, { caller, upstream, url }: FetchWork, item: string): Promise<boolean> {
  const attempts: Prior[] = [];
  for (let attempt = 1; ; attempt += 1) {
    const delayMs = attempt === 1 ? 0 : firstDelayMs * 2 ** (attempt - 2);
    await pause(delayMs);
    const reason = attempts.at(-1)?.reason;
    const retried = async (outcome: "ok" | "failed"): Promise<void> => {
      if (reason !== undefined) await chain.write("retry", { operation, upstream, attempt, reason, delayMs, outcome });
    };
    try {
      await fetchItem(url, item, undefined, { caller, timeoutMs: lookupTimeoutMs });
      await retried("ok");
      return true;
    } catch (error) {
      const { given, retryable, type } = toFailure(error, classifyServiceError);
      const again = retryable && attempt < mostAttempts;
      const finality: Finality = again ? "recoverable" : given;
      const facts = { type, finality, recovered: false, operation, upstream, attempt, covers: item, effects: [] };
      const seq = await chain.write("error", { ...facts, attempts: [...attempts] });
      await retried("failed");
      if (!again) return false;
      attempts.push({ attempt, reason: seq, delayMs });
    }
  }
}

/** Looks all items up, one after the other. What is recorded on the way is true; only the report is not. */
export async function recordedLookups(chain: HandMadeChain, work: FetchWork, say: Say): Promise<LookupResults> {
  const coverage: Coverage = [];
  for (const item of work.items) {
    const found = await lookUp(chain, work, item);
    coverage.push({ task: item, state: found ? "done" : "failed" });
    say(`${coverage.length} of ${work.items.length} items looked up`);
  }
  const succeeded = coverage.filter(({ state }) => state === "done").length;
  return { coverage, work: { calls: coverage.length, succeeded } };
}
