import type { AdmittedEvent } from "@candor/contract";
import { judgeEpoch } from "./agent-fold.js";
import { AuthorChain } from "./author-chain.js";
import { ownOddities } from "./disclosure.js";
import type { Verify } from "./output.js";
import type { Speaker } from "./speaker.js";
import { ownPast, type RunState, type TaskState } from "./state.js";

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
  const { ready } = chain.offer(entry, run.policy.reorderBuffer);
  const independent = key !== epoch.deployment && key !== epoch.taskKey && event.actor !== epoch.actor;
  for (const next of ready) {
    if (next.kind !== "probe") continue;
    const { event: by, payload, seq } = next;
    const seen = { prober: by.actor, outcome: payload.outcome, independent, seq };
    const odd = ownOddities(epoch.disclosure);
    odd.probes = [...odd.probes, seen];
  }
  if (ready.length > 0 && epoch === task.current) judgeEpoch(run, task, epoch, speaker);
}
