import type { AdmittedEvent } from "@candor/contract";
import { judgeEpoch } from "./agent-fold.js";
import { AuthorChain } from "./author-chain.js";
import { foldVerification } from "./dispatch-state.js";
import { foldSeenProbe } from "./disclosure-state.js";
import type { Verify } from "./output.js";
import type { Speaker } from "./speaker.js";
import { ownPast, type EpochState, type RunState, type TaskState } from "./state.js";

/** Folds a probe receipt: signed by a prober that the run trusts, in the order of its chain (D4). */
export function foldProbe(
  run: RunState,
  task: TaskState,
  entry: AdmittedEvent,
  verify: Verify,
  speaker: Speaker,
): void {
  if (entry.kind !== "probe") return;
  const { signature, hash, event } = entry;
  const epoch = task.current?.epoch === event.epoch ? task.current : task.past.earlier.get(event.epoch);
  if (epoch === undefined) {
    speaker.quarantine(
      entry,
      "wrong-epoch",
      `The log holds no delegation of epoch ${event.epoch} of this task.`,
      "epoch",
    );
    return;
  }
  const keys = run.probers.get(event.actor);
  if (keys === undefined || keys.size === 0) {
    speaker.quarantine(entry, "untrusted-key", `This run trusts no prober ${event.actor}.`, "actor");
    return;
  }
  if (signature === undefined) {
    speaker.quarantine(entry, "unsigned", "A probe receipt must be signed by its prober.");
    return;
  }
  const key = [...keys].find((trusted) => verify(trusted, hash, signature));
  if (key === undefined) {
    speaker.quarantine(
      entry,
      "bad-signature",
      "No key of this prober that is trusted at this point signed the receipt.",
    );
    return;
  }
  const probers = ownPast(task).probers;
  const name = `${event.epoch}/${event.actor}`;
  const chain = probers.get(name) ?? new AuthorChain();
  probers.set(name, chain);
  const independent = key !== epoch.deployment && key !== epoch.taskKey && event.actor !== epoch.actor;
  const { ready, fault, waiting, overflow } = chain.offer(entry, run.policy.reorderBuffer);
  for (const next of ready) see(epoch, next, { independent, doubtful: fault !== undefined });
  if (ready.length === 0) {
    const isDuplicate = fault === undefined && !waiting && overflow !== true;
    if (isDuplicate) return;
    // A contradiction counts at once, in whatever order it comes; two stories under one number confirm nothing.
    if (fault !== undefined || entry.payload.outcome === "contradicted")
      see(epoch, entry, { independent, doubtful: true });
    else if (overflow === true)
      speaker.quarantine(entry, "malformed", "Too many receipts of this prober wait for one before them.", "seq");
  }
  judgeEpoch(run, task, epoch, speaker);
}

/** @param doubtful the prober's chain does not bear the receipt out, so that it can confirm nothing */
function see(
  epoch: EpochState,
  entry: AdmittedEvent,
  { independent, doubtful }: { independent: boolean; doubtful: boolean },
): void {
  if (entry.kind !== "probe") return;
  const { event, payload, seq } = entry;
  const outcome = doubtful && payload.outcome === "confirmed" ? "inconclusive" : payload.outcome;
  const { verifier } = payload;
  if (verifier !== undefined) {
    const { dispatch, brief } = epoch;
    if (independent && dispatch !== undefined && brief.terms !== undefined)
      foldVerification(dispatch, brief.terms, verifier, outcome);
    // A command's receipt is about the terms alone; whoever is probed under a changed work says nothing of the task.
    if (verifier.kind === "command" || verifier.role === "ablation") return;
  }
  foldSeenProbe(epoch.disclosure, { prober: event.actor, outcome, independent, seq });
}
