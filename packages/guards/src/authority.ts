/** A person's leave, given as an approval intent. */
export interface PersonApproval {
  /** Who approved. */
  readonly person: string;
  /** What may be done in addition. */
  readonly authority: readonly string[];
}

export type AuthorityDecision =
  | { readonly ok: true; readonly authority: readonly string[] }
  | { readonly ok: false; /** What nobody approved. */ readonly unapproved: readonly string[] };

/**
 * The authority of the next delegation of a task: never wider than now without a person who approved each addition (U3).
 *
 * @param now what the present delegation allows
 * @param wanted what the next one is to allow
 */
export function nextAuthority(
  now: readonly string[],
  wanted: readonly string[],
  approval: PersonApproval | null,
): AuthorityDecision {
  const allowed = new Set([...now, ...(approval?.authority ?? [])]);
  const unapproved = wanted.filter((label) => !allowed.has(label));
  return unapproved.length === 0 ? { ok: true, authority: wanted } : { ok: false, unapproved };
}
