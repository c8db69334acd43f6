import type { AdmittedOf } from "@candor/contract";
import { foldDispatch, ownOddities } from "./disclosure-state.js";
import { doubtAction } from "./doubt-action.js";
import { doubtPolicy, keyUse } from "./kept-keys.js";
import { dispatchFaults, outcomeFaults } from "./recall.js";
import { ownRecall, type EpochState, type RunState, type TaskState } from "./state.js";

type EffectEntry = AdmittedOf<"effect">;

/** Doubts of an epoch that are told apart. */
const mostAsked = 1_000;

/**
 * Folds an event about an effect.
 *
 * @param judgeEarlier called for an earlier epoch of which it says something new
 * @returns whether it says anything about an effect, true or not
 */
export function foldEffect(
  run: RunState,
  task: TaskState,
  epoch: EpochState,
  entry: EffectEntry,
  judgeEarlier: (earlier: EpochState) => void,
): boolean {
  const { phase, key, dispatch, epoch: earlier, arguments: digest, keyUnread } = entry.payload;
  if (phase === "dispatched") return foldDispatched(run, task, epoch, entry);
  if (earlier !== undefined) return foldInherited(task, epoch, { entry, earlier }, judgeEarlier);
  const outcome = epoch.effects.outcome(entry);
  if (outcome !== undefined) {
    const faults = outcomeFaults(epoch.recall, phase, outcome);
    for (const fault of faults) ownRecall(epoch).findings.add(fault, key, entry.seq);
    if (keyUnread === true) foldUnread(epoch, outcome.effect.inDoubt === "reissue", entry);
    return true;
  }
  if (phase === "not-run" && dispatch === undefined && digest !== undefined) {
    // The runtime refused it: its key stands for something else already (F7).
    note(epoch, "intent-key-reuse", entry);
    ownOddities(epoch.disclosure).asked.set("reuse", "verify");
    return true;
  }
  if (phase === "not-run" || phase === "failed") return false;
  // It changed something, and no dispatch of it stands in the log: it ran past the fence.
  ownRecall(epoch).findings.add("ghost-action", key, entry.seq);
  return true;
}

function foldDispatched(run: RunState, task: TaskState, epoch: EpochState, entry: EffectEntry): boolean {
  const { payload, seq, event } = entry;
  // Folded when it came, ahead of its turn.
  if (epoch.effects.knows(event.seq)) return true;
  const use = keyUse(epoch.minted, payload);
  const policy = use === "as-minted" ? doubtPolicy(epoch.minted, payload) : undefined;
  const isDoubtful = policy !== undefined && policy !== "reissue" && isOpen(task, epoch, payload.key);
  const { effect, reused, usedUp } = epoch.effects.dispatched(entry, run.shared);
  if (policy !== undefined) effect.inDoubt = policy;
  const { order } = epoch.recall;
  const faults = dispatchFaults(epoch.recall, effect, {
    reused: reused || isDoubtful || use === "otherwise",
    usedUp: usedUp || (policy !== "reissue" && isCommittedBefore(task, epoch, payload.key)),
    stopped: task.control.standing === "closed" || (order !== undefined && seq > order.seq),
    superseded: epoch !== task.current,
    unfenced: epoch.mode === "enforce" && use !== "as-minted",
  });
  foldDispatch(epoch.disclosure, effect, { unfenced: epoch.mode !== "enforce" && use !== "as-minted" });
  for (const fault of faults) ownRecall(epoch).findings.add(fault, payload.key, seq);
  return true;
}

function* earlierEpochs({ past }: TaskState, before: number): Generator<EpochState> {
  for (const earlier of past.earlier.values()) if (earlier.epoch < before) yield earlier;
}

/** Something under the key is open, here or in an earlier epoch, and nobody looked it up. */
function isOpen(task: TaskState, epoch: EpochState, key: string): boolean {
  if (epoch.effects.openUnder(key).length > 0) return true;
  for (const earlier of earlierEpochs(task, epoch.epoch)) if (earlier.effects.openUnder(key).length > 0) return true;
  return false;
}

function isCommittedBefore(task: TaskState, epoch: EpochState, key: string): boolean {
  for (const earlier of earlierEpochs(task, epoch.epoch))
    if (earlier.effects.committedUnder(key) !== undefined) return true;
  return false;
}

/**
 * What an epoch found out about effects that earlier ones left open: by a repeat that the downstream answered, or by a
 * look-up. It counts only where the delegation names the key and says that this is what is done.
 */
function foldInherited(
  task: TaskState,
  epoch: EpochState,
  { entry, earlier: upTo }: { readonly entry: EffectEntry; readonly earlier: number },
  judgeEarlier: (earlier: EpochState) => void,
): boolean {
  const { phase, key } = entry.payload;
  const isMinted = keyUse(epoch.minted, entry.payload) === "as-minted";
  const policy = isMinted ? doubtPolicy(epoch.minted, entry.payload) : undefined;
  if (phase === "in-doubt" && policy !== undefined) {
    note(epoch, "effects-unknown", entry);
    const { asked } = ownOddities(epoch.disclosure);
    // Members of a family are the agent's to choose: beyond these one stands for all.
    asked.set(asked.size < mostAsked ? key : "more", doubtAction[policy]);
    return true;
  }
  if (phase !== "committed" && phase !== "not-run") return false;
  let isKnown = epoch.effects.committedUnder(key) !== undefined;
  // Where nothing is to be done in doubt, that nothing ran for want of a claim can be known all the same.
  if (policy === "reissue" || policy === "probe" || (policy === "halt" && phase === "not-run")) {
    epoch.disclosure.odd.asked.delete(key);
    for (const earlier of earlierEpochs(task, Math.min(epoch.epoch, upTo + 1))) {
      if (earlier.effects.settle(key, phase)) {
        isKnown = true;
        judgeEarlier(earlier);
      } else isKnown ||= earlier.effects.committedUnder(key) !== undefined;
    }
  }
  // It happened, and nobody dispatched it: it ran past the fence.
  if (phase === "committed" && !isKnown) ownRecall(epoch).findings.add("ghost-action", key, entry.seq);
  return true;
}

/** A downstream can't honour a key that it never got, so that a repeat is a second effect. */
function foldUnread(epoch: EpochState, isRepeated: boolean, entry: EffectEntry): void {
  if (keyUse(epoch.minted, entry.payload) === "unminted") return;
  note(epoch, "intent-key-unread", entry);
  if (isRepeated) ownOddities(epoch.disclosure).asked.set("unread", "verify");
}

function note(
  epoch: EpochState,
  code: "intent-key-reuse" | "intent-key-unread" | "effects-unknown",
  { payload, seq }: EffectEntry,
): void {
  ownOddities(epoch.disclosure).noted.add(code, payload.key, seq);
}
