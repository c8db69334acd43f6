import type { Link } from "./link.js";
import { readStreamState } from "./look-up.js";

/** Fewer messages are not worth a second consumer. */
const leastPending = 5_000;
/** A filter that lets through one message of this many, or more of them, costs more than the messages it keeps away. */
const leastShare = 1 / 4;
const rest = ".>";

/**
 * Whether it is quicker to read the whole stream and leave out here what the filter does not let through. For every
 * message of a filtered consumer the server looks through the matching subjects of the storage block: cheap if they are
 * few, a fifth of the speed if they are most of a busy block's. Only for filters that are a prefix.
 *
 * @param position the last sequence read
 * @param pending messages after it that the filter lets through
 * @throws CandorError `server-unreachable`, `permission-denied`, `server-failed`
 */
export async function isWorthReadingWide(
  link: Link,
  stream: string,
  filters: readonly string[],
  position: number,
  pending: number,
): Promise<boolean> {
  if (pending < leastPending || filters.length === 0 || !filters.every(isPrefix)) return false;
  const { firstSeq, lastSeq } = await readStreamState(link, stream);
  return pending >= (lastSeq - Math.max(position, firstSeq - 1)) * leastShare;
}

/** True for a subject that one of these prefix filters lets through. */
export function passes(filters: readonly string[], subject: string): boolean {
  return filters.some((filter) => subject.length >= filter.length && subject.startsWith(filter.slice(0, -1)));
}

function isPrefix(filter: string): boolean {
  return filter.endsWith(rest) && !filter.includes("*");
}
