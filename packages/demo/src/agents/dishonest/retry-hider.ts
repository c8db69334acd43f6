import { cheat, promisedScope } from "./cheat.js";
import { accountOf, successReport } from "./hand-made-report.js";

/** Reports as if everything had gone well at first try: its retry manifest is empty. */
export const hideRetries = cheat((chain, results) => {
  const { coverage } = results;
  const account = accountOf(chain.events, promisedScope, coverage, chain.brief.keyTasks);
  const { receipts } = account;
  const masked = { ...account, receipts: { ...receipts, retries: { ...receipts.retries, entries: [] } } };
  return successReport(chain, masked, { ...results, summary: "all items found" });
});
