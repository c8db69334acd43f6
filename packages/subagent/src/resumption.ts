import { CandorError, type Payload } from "@candor/contract";
import { alreadyAccepted, compareWithLog } from "./acceptance.js";
import type { Delegation } from "./delegation.js";
import type { IntentKeys } from "./intent-keys.js";
import type { LookUp } from "./ports.js";
import type { Recorder } from "./recorder.js";
import type { Spool } from "./spool/spool.js";
import type { TaskState } from "./task-state.js";

export interface ResumeContext {
  readonly bus: LookUp;
  readonly actor: string;
  readonly delegation: Delegation;
  readonly spool: Spool;
  readonly recorder: Recorder;
  readonly state: TaskState;
  readonly keys: IntentKeys;
  readonly flushMs: number;
}

/**
 * Takes an epoch up again (R11). What is unconfirmed is on its way already, unchanged; here what was under way when the
 * earlier process ended is cleared up: a dispatch of unknown fate, effects without outcome, intent keys not settled.
 *
 * @returns stream sequence of the acceptance
 * @throws CandorError `already-accepted` if it lost to another process, `log-rolled-back`, `spool-lost`, `task-over` if
 *   the task was reported on
 */
export async function resume(context: ResumeContext): Promise<number> {
  const { bus, actor, delegation, spool, recorder, state } = context;
  const { events } = spool.content;
  let accepted = events[0]?.sequence;
  if (accepted !== undefined) await compareWithLog(bus, delegation, actor, events);
  const leftover = await recorder.resolveLeftover();
  if (leftover?.kind === "accept") accepted = leftover.stored?.sequence;
  if (accepted === undefined) throw alreadyAccepted(delegation);
  if (leftover?.kind === "effect" && leftover.stored !== undefined) {
    // Effects run only once their dispatch is marked as stored, and this one was not.
    await tellOutcome(recorder, leftover.stored.seq, leftover.payload as Payload<"effect">, "not-run");
  }
  for (const { dispatch, ...effect } of state.book.unanswered)
    await tellOutcome(recorder, dispatch, effect, "in-doubt");
  settleKeys(context);
  if (state.reported === undefined) return accepted;
  await recorder.flush(context.flushMs);
  throw new CandorError(
    "task-over",
    `Task ${delegation.task} was done and reported on by an earlier process; its report is stored. There is nothing left to do.`,
    { details: { claim: state.reported.claim } },
  );
}

async function tellOutcome(
  recorder: Recorder,
  dispatch: number,
  effect: Pick<Payload<"effect">, "intent" | "key" | "target">,
  phase: "not-run" | "in-doubt",
): Promise<void> {
  const { intent, key, target } = effect;
  await recorder.record("effect", { phase, intent, key, target, dispatch });
}

/** Writes down what came of the keys that the earlier process left unwritten. */
function settleKeys({ spool, state, keys, delegation }: ResumeContext): void {
  const { content } = spool;
  const minted = new Set(delegation.payload.intents.map(({ key }) => key));
  for (const { key } of state.book.committed) {
    const effect = state.book.lastOf(key);
    if (effect === undefined || !minted.has(key) || content.done.has(key)) continue;
    const { dispatch, identifiers, arguments: digest } = effect;
    const result = content.results.get(key)?.result;
    keys.settle(key, { epoch: delegation.epoch, dispatch, identifiers, arguments: digest, result }, () => {
      spool.write({ type: "done", key });
    });
  }
}
