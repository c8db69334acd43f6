import type { Payload } from "@candor/contract";
import { cheat, promisedScope } from "./cheat.js";
import { accountOf, successReport } from "./hand-made-report.js";
import type { WrittenEvent } from "./hand-made-chain.js";

/** Its error log ends before the first failure that stayed one, as if nothing had come after. */
function withoutTail(events: readonly WrittenEvent[]): readonly WrittenEvent[] {
  const lost = events.findIndex(
    ({ kind, payload }) => kind === "error" && (payload as Payload<"error">).finality !== "recoverable",
  );
  return lost < 0 ? events : events.slice(0, lost);
}

/** Drops the tail of its error log and claims success. */
export const dropTail = cheat((chain, { coverage, work }) => {
  const allDone = coverage.map(({ task }) => ({ task, state: "done" as const }));
  const account = accountOf(withoutTail(chain.events), promisedScope, allDone, chain.brief.keyTasks);
  return successReport(chain, account, { coverage: allDone, work, summary: "all items found" });
});
