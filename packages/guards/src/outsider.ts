import type { AdmittedEvent, AdmittedOf, QuarantineCode } from "@candor/contract";
import type { LateFacts } from "./closed-tasks.js";
import type { RunState, TaskState } from "./state.js";

/** What is known of a run by which an event can be refused: a run's own state, or what is left of a closed one. */
export type KnownRun = Pick<RunState, "fleet" | "probers" | "closed"> & {
  readonly policy: Pick<RunState["policy"], "lateEventsPerActor">;
};

export interface Refusal {
  readonly code: QuarantineCode;
  readonly sentence: string;
  readonly path: string;
}

/** The actors of a task's delegations as one text. Ids hold no `|`, so a look-up is a search. */
export function actorText({ current, past }: TaskState): string {
  if (current === undefined) return "";
  const actors = [...past.earlier.values(), current].map(({ actor }) => actor);
  return `|${[...new Set(actors)].join("|")}|`;
}

/** Nothing holds in a closed task, or in a run that is closed, any more; only what happened still counts. */
export function isClosed(run: RunState, task: TaskState | undefined): boolean {
  return run.self.control.standing === "closed" || task?.control.standing === "closed";
}

/**
 * Refuses what comes late from somebody who has no part in it. It needs no history, only who took part, so that nobody
 * can have the log read again and again in a task or run that is none of theirs.
 *
 * @param actors of the task's delegations, as `actorText`
 */
export function refuseOutsider(
  { fleet, probers }: KnownRun,
  actors: string,
  entry: AdmittedEvent,
): Refusal | undefined {
  const { role, actor } = entry.event;
  if (role === "orch" && actor !== fleet) {
    return { code: "no-delegation", sentence: `This run belongs to fleet ${fleet}.`, path: "actor" };
  }
  if (role === "agent" && !actors.includes(`|${actor}|`)) {
    const sentence = `The task is closed, or its run is, and no delegation of it names ${actor}.`;
    return { code: "no-delegation", sentence, path: "actor" };
  }
  if (role === "probe" && (probers.get(actor)?.size ?? 0) === 0) {
    return { code: "untrusted-key", sentence: `This run trusts no prober ${actor}.`, path: "actor" };
  }
  return undefined;
}

/**
 * Whether a dispatch that comes now says something new: one after the closing is a ghost, and the first says what a
 * thousand say. Until there is one it is judged whatever the budget, or silence about it could be bought with junk.
 */
export function mayHoldGhost({ control, current, past }: TaskState): boolean {
  if (control.standing !== "closed" || current === undefined) return false;
  return ![...past.earlier.values(), current].some(({ recall }) => recall.findings.has("ghost-action"));
}

/** What is known of late events to a task that was read again. */
export function lateOf(task: TaskState): LateFacts {
  return { late: task.past.late, mayHoldGhost: mayHoldGhost(task) };
}

export function isDispatch(entry: AdmittedEvent): entry is AdmittedEvent & AdmittedOf<"effect"> {
  return entry.kind === "effect" && entry.payload.phase === "dispatched";
}

export const usedUp: Refusal = {
  code: "wrong-epoch",
  sentence: "The task is closed and this actor's late events are used up.",
  path: "actor",
};

/** Refuses what comes to a closed task and can be refused without its history. */
export function refuseUnread(run: KnownRun, entry: AdmittedEvent): Refusal | undefined {
  const { task, role, actor } = entry.event;
  const actors = run.closed.actorsOf(task);
  const outsider = refuseOutsider(run, actors ?? "", entry);
  if (outsider !== undefined || role === "orch" || role === "guard") return outsider;
  const facts = run.closed.lateFacts(task);
  if (actors === undefined || (facts?.mayHoldGhost === true && isDispatch(entry))) return undefined;
  return (facts?.late.get(actor) ?? 0) >= run.policy.lateEventsPerActor ? usedUp : undefined;
}

/** Closed tasks that are known at once, of all closed runs of a lane. */
const mostKnownTasks = 65_536;

/** Who took part in the runs that were closed last. A run that is not among them is read again, and says the same. */
export class ClosedRuns {
  readonly #runs = new Map<string, KnownRun>();
  #weight = 0;

  get(run: string): KnownRun | undefined {
    return this.#runs.get(run);
  }

  add({ run, fleet, probers, closed, policy }: RunState): void {
    this.#runs.set(run, { fleet, probers, closed, policy });
    this.#weight += 1 + closed.size;
    for (const [oldest, { closed: tasks }] of this.#runs) {
      if (this.#weight <= mostKnownTasks) return;
      this.#runs.delete(oldest);
      this.#weight -= 1 + tasks.size;
    }
  }
}
