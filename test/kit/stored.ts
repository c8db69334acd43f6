import type { Bus } from "@candor/bus";
import { streams } from "@candor/contract";

/** How many messages each subject has, over all our streams, as the operator sees it. */
export async function storedCounts(operator: Bus): Promise<Map<string, number>> {
  const states = await Promise.all(
    Object.values(streams).map((stream) => operator.jsm.streams.info(stream, { subjects_filter: ">" })),
  );
  return new Map(states.flatMap(({ state }) => Object.entries(state.subjects ?? {})));
}

/** What `after` has more than `before`, by subject. */
export function storedSince(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
): Record<string, number> {
  const more = [...after].map(([subject, count]) => [subject, count - (before.get(subject) ?? 0)] as const);
  return Object.fromEntries(more.filter(([, count]) => count !== 0).sort());
}
