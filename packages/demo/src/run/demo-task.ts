import type { PrincipalName } from "../agents/messages.js";

export interface DemoTask {
  /** Id of the task in the run. */
  readonly task: string;
  readonly agent: PrincipalName;
  /** What it is about, for people. */
  readonly title: string;
}

const tasks = {
  reviewer: { task: "review-migrations", title: "reviews SQL migrations with a real parser" },
  "second-reviewer": { task: "review-again", title: "reviews the same migrations by another measure" },
  fetcher: { task: "fetch-stock", title: "looks items up at a service that fails now and then" },
  payer: { task: "pay-invoices", title: "pays invoices and is recalled in mid-payment" },
  "retry-hider": { task: "hide-retries", title: "looks items up and hides its retries" },
  "tail-dropper": { task: "drop-tail", title: "looks items up and drops the tail of its error log" },
  restocker: { task: "restock", title: "gets stuck, is delegated again, and pays once that is approved" },
  planner: { task: "plan-order", title: "has its work done by a buyer, who has it done by a clerk" },
} as const satisfies Record<PrincipalName, Omit<DemoTask, "agent">>;

/** The task of a subagent. */
export function taskOf<A extends PrincipalName>(agent: A): DemoTask & { readonly agent: A } {
  return { agent, ...tasks[agent] };
}
