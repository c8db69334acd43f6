import { mostLayers, type AdmittedEvent, type AdmittedOf, type FindingCode } from "@candor/contract";
import type { TaskParent } from "./family.js";
import type { RunState, TaskState } from "./state.js";

function nameOf(fleet: string, task: string, epoch: number): string {
  return `${fleet}/${task}/${epoch}`;
}

/** Takes note that the agent of this delegation may delegate parts of it, as that fleet. */
export function addSubFleet(run: RunState, { event, payload }: AdmittedOf<"delegate">): void {
  const { subFleet } = payload;
  if (subFleet === undefined) return;
  run.subFleets ??= new Map();
  run.subFleets.set(nameOf(subFleet.name, event.task, event.epoch), subFleet.key);
}

function ownerOf(run: RunState, task: TaskState): string {
  return task.parent?.fleet ?? run.fleet;
}

/** Keys that may sign this intent: of the run's fleet, or of the sub-fleet that the task belongs to. Undefined for a stranger's. */
export function signersOf(
  run: RunState,
  known: TaskState | undefined,
  entry: AdmittedEvent,
): Iterable<string> | undefined {
  const { actor } = entry.event;
  const parent = known === undefined && actor !== run.fleet ? parentNamed(entry) : known?.parent;
  if (parent === undefined) return actor === run.fleet ? run.fleetKeys : undefined;
  const key = run.subFleets?.get(nameOf(actor, parent.task, parent.epoch));
  const isOwner = known === undefined || ownerOf(run, known) === actor;
  return key !== undefined && isOwner ? [key] : undefined;
}

function parentNamed(entry: AdmittedEvent): { readonly task: string; readonly epoch: number } | undefined {
  return entry.kind === "delegate" ? entry.payload.parent : undefined;
}

/** The place of a new task below the one that it is a part of; undefined for one of the run's own fleet. */
export function placeOfNew(run: RunState, entry: AdmittedEvent): TaskParent | undefined {
  const { actor } = entry.event;
  const parent = actor === run.fleet ? undefined : parentNamed(entry);
  if (parent === undefined) return undefined;
  const layer = (run.tasks.get(parent.task)?.parent?.layer ?? 0) + 1;
  return { task: parent.task, epoch: parent.epoch, fleet: actor, layer };
}

/** What is wrong with a delegation as part of another task: that one must still be in the hands it says (R9). */
export function familyFault(
  run: RunState,
  { parent }: TaskState,
  { payload }: AdmittedOf<"delegate">,
): FindingCode | undefined {
  const { parent: named, subFleet } = payload;
  if (subFleet?.name === run.fleet || (named === undefined) !== (parent === undefined)) return "intent-contradictory";
  if (named === undefined || parent === undefined) return undefined;
  const above = run.tasks.get(parent.task);
  const isTrue =
    named.task === parent.task &&
    named.epoch === parent.epoch &&
    named.opener === run.fleet &&
    above !== undefined &&
    named.fleet === ownerOf(run, above) &&
    parent.layer <= mostLayers;
  if (
    above === undefined ||
    (isTrue && !(above.control.standing === "delegated" && above.control.epoch === parent.epoch))
  )
    return "intent-stale";
  return isTrue ? undefined : "intent-contradictory";
}
