import type { PropagatedFailure, VerdictBody } from "@candor/contract";

/**
 * The failure of a task as a typed result: where it began, each layer that it passed, what was tried, what had happened by
 * then. It holds no prose and no hint (F4); those lie sealed in the log.
 *
 * @param verdicts as in `Decided`
 * @returns undefined if the task did not fail, or its report does not say with what
 */
export function failureOf(verdicts: readonly VerdictBody[]): PropagatedFailure | undefined {
  return verdicts.find(({ judge }) => judge === "disclosure")?.failure;
}
