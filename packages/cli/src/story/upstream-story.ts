import { runTask, type AdmittedEvent } from "@candor/contract";
import { upstreamTotals, type UpstreamTotals } from "@candor/guards";
import type { Context } from "../context.js";
import { printable } from "../output/printable.js";
import { table } from "../output/table.js";
import type { RunLog } from "./run-log.js";

/** What the tasks of a run called, and how that went. */
export interface UpstreamStory {
  readonly upstreams: readonly (UpstreamTotals & { readonly degraded: boolean })[];
  /** The call that came to the most requests by repetition, if one was repeated. */
  readonly amplification:
    | {
        readonly task: string;
        readonly requests: number;
        /** Outermost first. */
        readonly layers: readonly { readonly operation: string; readonly tries: number }[];
      }
    | undefined;
}

export function tellUpstreams({ entries, verdicts }: RunLog): UpstreamStory {
  const events = entries.filter((entry): entry is AdmittedEvent => entry.type === "event");
  const judged = verdicts.filter(({ judge, task }) => judge === "upstream" && task === runTask).at(-1);
  const degraded = new Set(judged?.findings.map(({ about }) => about));
  let amplification: UpstreamStory["amplification"];
  for (const { kind, payload, event } of events) {
    const found = kind === "report" ? payload.receipts?.retries.amplification : undefined;
    if (found !== undefined && found.requests > (amplification?.requests ?? 1))
      amplification = { task: event.task, ...found };
  }
  const upstreams = upstreamTotals(events).map((totals) => ({ ...totals, degraded: degraded.has(totals.upstream) }));
  return { upstreams, amplification };
}

/** Undefined where nothing was called that has a name. */
export function upstreamText(context: Context, { upstreams, amplification }: UpstreamStory): string | undefined {
  const { colors } = context.terminal;
  const rows = upstreams.map(({ upstream, calls, firstTry, recovered, failed, tries, tasks, degraded }) => [
    printable(upstream),
    `${calls}`,
    `${firstTry}`,
    `${recovered}`,
    `${failed}`,
    `${tries}`,
    `${tasks}`,
    degraded ? colors.yellow("UPSTREAM_DEGRADED") : "–",
  ]);
  const head = ["UPSTREAM", "CALLS", "FIRST TRY", "RECOVERED", "FAILED", "TRIES", "TASKS", "VERDICT"];
  const path = amplification?.layers.map(({ operation, tries }) => `${printable(operation)} × ${tries}`).join(", ");
  const lines = [
    ...(rows.length === 0 ? [] : [table(context.terminal, head, rows)]),
    ...(amplification === undefined
      ? []
      : [`One call of ${amplification.task} came to ${amplification.requests} requests: ${path ?? ""}.`]),
  ];
  return lines.length === 0 ? undefined : lines.join("\n");
}
