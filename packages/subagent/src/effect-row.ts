import { isCandorError } from "@candor/contract";
import { currentAttempt, givenUp, inAttempt, type AttemptScope } from "./attempt-scope.js";
import type { TaskDesk } from "./task-desk.js";

/**
 * Runs an effect as one of a row: where the same effect failed before, in this process or an earlier one, this is a
 * retry of it, recorded as one, and its success recovers the row. Members of a key family are effects of their own. Within an `attempt()` that is the attempt's affair.
 */
export async function inRow<T>(
  desk: TaskDesk,
  { operation, target }: { readonly operation: string; readonly target: string | undefined },
  run: () => Promise<T>,
): Promise<T> {
  const left = desk.unrecovered.take(operation);
  const outer = currentAttempt();
  const attempt = (left?.attempt ?? 0) + 1;
  const told = async (outcome: "ok" | "failed"): Promise<void> => {
    if (left === undefined) return;
    await desk.faults.retry({ operation, upstream: target, attempt, reason: left.seq, delayMs: 0, outcome });
  };
  const scope: AttemptScope | undefined = left && {
    attempt,
    priors: [...(outer?.priors ?? []), ...left.priors, { attempt: left.attempt, reason: left.seq, delayMs: 0 }],
    finalityOf: outer?.finalityOf ?? givenUp,
    layer: outer?.layer,
  };
  try {
    const value = await (scope === undefined ? run() : inAttempt(scope, run));
    await told("ok");
    return value;
  } catch (error) {
    await told("failed");
    // One that hangs is told behind the dispatch, so its number is not known yet.
    const known =
      outer === undefined && !isCandorError(error, "publish-unconfirmed") ? desk.faults.seqOf(error) : undefined;
    const seq = await known;
    if (seq !== undefined) desk.unrecovered.leave(operation, { seq, attempt, priors: scope?.priors ?? [] });
    throw error;
  }
}
