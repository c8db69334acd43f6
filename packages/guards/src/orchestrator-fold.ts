import { runTask, type AdmittedEvent } from "@candor/contract";
import { judgeEpoch } from "./agent-fold.js";
import { foldRunIntent, foldTaskIntent, settle, speakIntent } from "./intent-fold.js";
import { isTaskIntent } from "./intent.js";
import type { LaneRuns } from "./lane-runs.js";
import type { Verify } from "./output.js";
import type { RunOpenings } from "./run-opening.js";
import type { Speaker } from "./speaker.js";
import { initialTask, type RunState } from "./state.js";
import { placeOfNew, signersOf } from "./sub-fleet.js";
import { speakDegraded } from "./upstream-fold.js";

/** What of a lane an orchestrator's word can change. */
interface Lane {
  readonly runs: LaneRuns;
  readonly openings: RunOpenings;
}

/** Folds what an orchestrator says about a run or one of its tasks: from a fleet that has a say in it, and signed. */
export function foldOrchestrator(
  { runs, openings }: Lane,
  run: RunState,
  entry: AdmittedEvent,
  verify: Verify,
  speaker: Speaker,
): void {
  const { task: taskId } = entry.event;
  const known = taskId === runTask ? run.self : run.tasks.get(taskId);
  const keys = signersOf(run, known, entry);
  if (keys === undefined) {
    if (known === undefined)
      speaker.quarantine(entry, "no-delegation", `This run belongs to fleet ${run.fleet}.`, "actor");
    else speakIntent(run, known, entry, "intent-foreign", speaker);
    return;
  }
  const { signature, hash } = entry;
  if (signature === undefined) {
    speaker.quarantine(entry, "unsigned", "An intent must be signed by its fleet's key.");
    return;
  }
  if (![...keys].some((key) => verify(key, hash, signature))) {
    speaker.quarantine(entry, "bad-signature", "No key of this fleet that is trusted at this point signed the intent.");
    return;
  }
  if (taskId === runTask) {
    if (entry.kind === "key-added" && !openings.isCertified(entry.payload.certificate, verify)) {
      speakIntent(run, run.self, entry, "intent-foreign", speaker);
      return;
    }
    if (foldRunIntent(run, entry, speaker)) holdRunIntent(runs, run, entry, speaker);
    return;
  }
  const task = known ?? initialTask(taskId, placeOfNew(run, entry));
  run.tasks.set(taskId, task);
  if (entry.kind === "delegate" && !openings.isSubFleet(entry.payload.subFleet, verify)) {
    speakIntent(run, task, entry, "intent-foreign", speaker);
    return;
  }
  foldTaskIntent(run, task, entry, speaker);
  if (isTaskIntent(entry) && task.control.standing === "closed") runs.closeTask(run, task, speaker);
}

function holdRunIntent(runs: LaneRuns, run: RunState, entry: AdmittedEvent, speaker: Speaker): void {
  if (entry.kind === "key-added") {
    const { certificate } = entry.payload;
    if (certificate.role === "orch" && certificate.name === run.fleet) run.fleetKeys.add(certificate.key);
    if (certificate.role === "probe")
      run.probers.set(certificate.name, new Set([...(run.probers.get(certificate.name) ?? []), certificate.key]));
  } else if (entry.kind === "key-revoked") {
    run.fleetKeys.delete(entry.payload.key);
    for (const keys of run.probers.values()) keys.delete(entry.payload.key);
  } else if (entry.kind === "run-close") {
    for (const task of run.tasks.values()) {
      if (task.current === undefined || task.control.standing === "closed") continue;
      // With its run a task is over: whatever it dispatches later is a ghost, although no fence stopped it.
      task.control.standing = "closed";
      settle(task.current);
      judgeEpoch(run, task, task.current, speaker);
      runs.closeTask(run, task, speaker);
    }
    speakDegraded(run, speaker, { final: true });
    runs.closeRun(run);
  }
}
