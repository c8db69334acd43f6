import { createHash } from "node:crypto";

/** Ways in which a lookup can fail. */
export const lookupFailures = ["unavailable", "throttled", "reset", "hang", "truncated"] as const;
export type LookupFailure = (typeof lookupFailures)[number];

/** For each item, how its first lookups fail, in order; the one after them succeeds. */
export type FailureScript = Readonly<Record<string, readonly LookupFailure[]>>;

/**
 * A script made from a seed: the same seed and item always give the same failures, none to
 * `maxFailures` of them. Taken from the bytes of SHA-256 over seed and item.
 */
export function failureScript(seed: string, items: readonly string[], maxFailures = 3): FailureScript {
  return Object.fromEntries(items.map((item) => [item, failuresOf(seed, item, maxFailures)]));
}

function failuresOf(seed: string, item: string, maxFailures: number): readonly LookupFailure[] {
  const [count = 0, ...bytes] = createHash("sha256")
    .update(JSON.stringify([seed, item]))
    .digest();
  return bytes
    .slice(0, count % (maxFailures + 1))
    .flatMap((byte) => lookupFailures[byte % lookupFailures.length] ?? []);
}
