import { stricter, type VerdictBody } from "@candor/contract";

/**
 * The verdict that a decision comes from: of those that count, the one with the strictest action, and of equals the first.
 *
 * @param verdicts as in `Decided`
 * @returns undefined if there is none
 */
export function decidingVerdict<V extends Pick<VerdictBody, "action">>(verdicts: readonly V[]): V | undefined {
  return verdicts.reduce<V | undefined>((best, next) => {
    if (best === undefined) return next;
    return stricter(best.action, next.action) === best.action ? best : next;
  }, undefined);
}
