import { CandorError, isCandorError, type Payload } from "@candor/contract";
import { alreadyAccepted } from "./acceptance.js";
import type { Delegation } from "./delegation.js";
import type { BookedEffect } from "./effect-book.js";
import type { IntentKeys } from "./intent-keys.js";
import type { LogWatch } from "./log-watch.js";
import type { Recorder } from "./recorder.js";
import type { Spool } from "./spool/spool.js";
import type { TaskState } from "./task-state.js";

export interface ResumeContext {
  readonly watch: Pick<LogWatch, "open">;
  readonly delegation: Delegation;
  readonly spool: Spool;
  readonly recorder: Recorder;
  readonly state: TaskState;
  readonly keys: IntentKeys;
  readonly flushMs: number;
}

/**
 * Takes an epoch up again (R11). What is unconfirmed, or lost by the log since, is sent again, unchanged; then what was
 * under way when the earlier process ended is cleared up: a dispatch of unknown fate, effects without outcome, intent keys not settled.
 *
 * @throws CandorError `already-accepted` if it lost to another process, `log-rolled-back`, `spool-lost`,
 *   `publish-unconfirmed` if it is not known in time what became of what was under way, `task-over` if the task was
 *   reported on
 */
export async function resume(context: ResumeContext): Promise<void> {
  const { watch, delegation, spool, recorder, state } = context;
  const { events } = spool.content;
  let accepted = events[0]?.sequence;
  if (accepted !== undefined) await watch.open();
  const leftover = await recorder.resolveLeftover();
  if (leftover?.kind === "accept") accepted = leftover.stored?.sequence;
  if (accepted === undefined) throw alreadyAccepted(delegation);
  if (leftover?.kind === "effect" && leftover.stored !== undefined && spool.isWhole) {
    // Effects run only once their dispatch is marked as stored, and this one was not. Else it is one without an outcome.
    await tellOutcome(recorder, leftover.stored.seq, leftover.payload as Payload<"effect">, "not-run");
  }
  for (const { dispatch, ...effect } of state.book.unanswered)
    await tellOutcome(recorder, dispatch, effect, (await isUnclaimed(context, effect)) ? "not-run" : "in-doubt");
  settleKeys(context);
  if (state.reported === undefined) return;
  for (const key of new Set([...delegation.payload.intents.map((minted) => minted.key), ...state.book.memberKeys])) {
    const phase = state.book.lastOf(key)?.phase;
    if ((phase === "failed" || phase === "not-run") && state.book.openUnder(key).length === 0) context.keys.void(key);
  }
  await recorder.flush(context.flushMs);
  await context.keys.flush(context.flushMs);
  throw new CandorError(
    "task-over",
    `Task ${delegation.task} was done and reported on by an earlier process; its report is stored. There is nothing left to do.`,
    { details: { claim: state.reported.claim } },
  );
}

/**
 * True if an effect certainly did not run, since the earlier process held no claim on its key: the server takes one now as the
 * first. A look-up would not do, since a replica that lags may not have it yet.
 */
async function isUnclaimed(
  { delegation, keys, flushMs }: ResumeContext,
  effect: Omit<BookedEffect, "dispatch">,
): Promise<boolean> {
  const { key, member, arguments: digest } = effect;
  const isMinted = member !== undefined || delegation.payload.intents.some((minted) => minted.key === key);
  if (!isMinted) return false;
  try {
    return (await keys.claim(key, digest, flushMs)) === "stored";
  } catch (error) {
    if (isCandorError(error)) return false;
    throw error;
  }
}

async function tellOutcome(
  recorder: Recorder,
  dispatch: number,
  effect: Pick<Payload<"effect">, "intent" | "key" | "target"> & { readonly member?: Uint8Array | undefined },
  phase: "not-run" | "in-doubt",
): Promise<void> {
  const { intent, key, target, member } = effect;
  const told = { phase, intent, key, target, dispatch };
  await recorder.record("effect", member === undefined ? told : { ...told, member });
}

/**
 * Writes down what came of the keys that the earlier process left unwritten.
 * @param again also of those that were written: a log that lost events may have lost them too
 */
export function settleKeys(context: Omit<ResumeContext, "watch" | "recorder" | "flushMs">, again = false): void {
  const { spool, state, keys, delegation } = context;
  const { content } = spool;
  const minted = new Set(delegation.payload.intents.map(({ key }) => key));
  for (const { key } of state.book.committed) {
    const effect = state.book.lastOf(key);
    const isMinted = minted.has(key) || effect?.member !== undefined;
    if (effect === undefined || !isMinted || (content.done.has(key) && !again)) continue;
    const { dispatch, identifiers, arguments: digest } = effect;
    const result = content.results.get(key)?.result;
    void keys.settle(key, { dispatch, identifiers, arguments: digest, result }, () => {
      spool.note({ type: "done", key });
    });
  }
}
