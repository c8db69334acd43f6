import { hex, type AdmittedEvent } from "@candor/contract";
import { UpstreamBook, type UpstreamFigures } from "./upstream-book.js";
import { withError, withRecovery, type Trouble } from "./upstream-trouble.js";

/** How a run's tasks used one upstream, all in all. */
export interface UpstreamTotals extends Omit<UpstreamFigures, "fromMs"> {
  /** Tries of all calls. */
  readonly tries: number;
}

/** Longer than any run. */
const wholeRun = Number.MAX_SAFE_INTEGER;

/**
 * Counts the calls to upstreams in a log of one run, as of each task's report: those that succeeded at their first try as the
 * reports say, and all others as the log itself does.
 *
 * @param entries the run's events in log order
 */
export function upstreamTotals(entries: Iterable<AdmittedEvent>): UpstreamTotals[] {
  const book = new UpstreamBook(wholeRun);
  const troubles = new Map<string, Trouble | undefined>();
  const tries = new Map<string, number>();
  const seen = new Set<string>();
  for (const { kind, payload, event, hash, seq, timeMs } of entries) {
    // The same event twice is a duplicate.
    if (seen.size === seen.add(hex(hash)).size) continue;
    const { task } = event;
    const trouble = troubles.get(task);
    if (kind === "delegate") troubles.delete(task);
    else if (kind === "error" && payload.upstream !== undefined)
      troubles.set(task, withError(trouble, payload.upstream, payload, seq));
    else if (kind === "retry" && payload.upstream !== undefined && payload.outcome === "ok")
      troubles.set(task, withRecovery(trouble, payload.upstream));
    else if (kind === "report" && payload.upstreams !== undefined) {
      book.report(task, trouble, payload.upstreams, timeMs);
      troubles.delete(task);
      for (const use of payload.upstreams) tries.set(use.upstream, (tries.get(use.upstream) ?? 0) + use.tries);
    }
  }
  return book.figures.map(({ upstream, calls, firstTry, recovered, failed, tasks }) => {
    return { upstream, calls, firstTry, recovered, failed, tasks, tries: tries.get(upstream) ?? 0 };
  });
}
