import type { Payload } from "@candor/contract";

/** What a task's own events say of one upstream: calls that failed at first, and what came of them. */
export interface Trouble {
  readonly upstream: string;
  troubled: number;
  recovered: number;
  failed: number;
  /** Log sequence of the last error that it was given up over as the upstream's own fault; 0 if there is none. */
  blamedAt: number;
  /** What the same task went through at another one: most have trouble with one alone. */
  readonly next: Trouble | undefined;
}

/** Upstreams that are counted, of a task and of a run: their names are the agents' choice. */
export const mostUpstreams = 64;

/** Types with which a task says that the upstream is at fault, and not what was asked of it. */
const faults: ReadonlySet<string> = new Set(["transient", "unavailable"]);

/**
 * Counts an error.
 *
 * @param first what the task went through so far, if anything
 * @param seq log sequence of the error
 * @returns what it went through with it
 */
export function withError(
  first: Trouble | undefined,
  upstream: string,
  { type, attempt, finality, recovered }: Payload<"error">,
  seq: number,
): Trouble | undefined {
  const all = withUpstream(first, upstream);
  const trouble = troubleAt(all, upstream);
  if (trouble === undefined) return all;
  if (attempt === 1) trouble.troubled += 1;
  if (recovered || finality === "recoverable") return all;
  trouble.failed += 1;
  if (faults.has(type)) trouble.blamedAt = seq;
  return all;
}

/** Counts a retry that succeeded, as `withError` does an error. */
export function withRecovery(first: Trouble | undefined, upstream: string): Trouble | undefined {
  const all = withUpstream(first, upstream);
  const trouble = troubleAt(all, upstream);
  if (trouble === undefined) return all;
  trouble.recovered += 1;
  trouble.blamedAt = 0;
  return all;
}

/** What the task went through at one upstream; undefined if nothing that is counted. */
export function troubleAt(first: Trouble | undefined, upstream: string): Trouble | undefined {
  let next = first;
  while (next !== undefined && next.upstream !== upstream) next = next.next;
  return next;
}

function withUpstream(first: Trouble | undefined, upstream: string): Trouble | undefined {
  if (troubleAt(first, upstream) !== undefined || lengthOf(first) >= mostUpstreams) return first;
  return { upstream, troubled: 0, recovered: 0, failed: 0, blamedAt: 0, next: first };
}

function lengthOf(first: Trouble | undefined): number {
  let length = 0;
  for (let next = first; next !== undefined; next = next.next) length += 1;
  return length;
}
