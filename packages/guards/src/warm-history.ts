import type { AdmittedEvent } from "@candor/contract";
import { isClosed, isDispatch, mayHoldGhost } from "./outsider.js";
import { ownPast, type RunState, type TaskState } from "./state.js";

/** A closed task of an open run, or a closed run with one of its tasks, as folded so far. */
interface Warm {
  readonly run?: RunState | undefined;
  readonly task?: TaskState | undefined;
}

const maxKept = 256;

/**
 * The closed tasks that were read again last. Late events seldom come alone, and one that comes by the thousand must
 * not have the log read again each time. What is kept is what reading again would give, so no verdict depends on it.
 */
export class WarmHistory {
  // Made on the first late event: most lanes have none.
  #kept: Map<string, Warm> | undefined;

  get(run: string, task: string): Warm | undefined {
    return this.#kept?.get(`${run}/${task}`);
  }

  /** Hands it out, to be kept again once it is folded on. */
  take(run: string, task: string): Warm | undefined {
    const warm = this.get(run, task);
    if (warm !== undefined) this.#kept?.delete(`${run}/${task}`);
    return warm;
  }

  keep(run: string, task: string, warm: Warm): void {
    const kept = (this.#kept ??= new Map<string, Warm>());
    kept.set(`${run}/${task}`, warm);
    if (kept.size <= maxKept) return;
    const [oldest] = kept.keys();
    if (oldest !== undefined) kept.delete(oldest);
  }
}

/**
 * Late events to a closed task are judged up to a budget of each actor, counted in the log itself. A dispatch that may be
 * the first ghost is judged in any case.
 */
export function isOverBudget(run: RunState, task: TaskState, entry: AdmittedEvent): boolean {
  if (!isClosed(run, task)) return false;
  const { late } = ownPast(task);
  const count = (late.get(entry.event.actor) ?? 0) + 1;
  late.set(entry.event.actor, count);
  return count > run.policy.lateEventsPerActor && !(isDispatch(entry) && mayHoldGhost(task));
}
