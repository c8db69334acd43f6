import type { AdmittedEvent } from "@candor/contract";
import { needOf, type HistoryNeed } from "./history-need.js";
import { actorText, ClosedRuns, lateOf, refuseUnread, type Refusal } from "./outsider.js";
import type { Speaker } from "./speaker.js";
import type { RunState, TaskState } from "./state.js";
import { WarmHistory } from "./warm-history.js";

/** Whether a task is closed, and not in memory. */
function isLeft(run: RunState, task: string): boolean {
  return !run.tasks.has(task) && run.closed.has(task);
}

/**
 * The runs of a lane: those that are open, what is left of tasks and runs that are closed, and what was read again of them
 * for a late event.
 */
export class LaneRuns {
  /** A fold over history keeps what is closed, because that is what it is asked for. */
  readonly #keepsClosed: boolean;
  readonly #runs = new Map<string, RunState>();
  readonly #revivedTasks = new Set<TaskState>();
  readonly #warm = new WarmHistory();
  readonly #closedRuns = new ClosedRuns();

  constructor(keepsClosed: boolean) {
    this.#keepsClosed = keepsClosed;
  }

  get(run: string): RunState | undefined {
    return this.#runs.get(run);
  }

  /** Every run in memory. */
  all(): Iterable<RunState> {
    return this.#runs.values();
  }

  /** Every task in memory, with its run. */
  *tasks(): Generator<{ readonly run: RunState; readonly task: TaskState }, void> {
    for (const run of this.#runs.values()) for (const task of run.tasks.values()) yield { run, task };
  }

  add(run: RunState): void {
    this.#runs.set(run.run, run);
  }

  /** A task is closed: only who took part in it is kept. */
  closeTask(run: RunState, task: TaskState, speaker: Speaker): void {
    if (this.#keepsClosed || run.revived || this.#revivedTasks.has(task)) return;
    // Whether evidence is there is looked up all the same.
    for (const timer of ["settle", "acknowledge", "grace"] as const) speaker.cancel(run, task, timer);
    run.tasks.delete(task.task);
    run.closed.add(task.task, run.shared.text(actorText(task)));
  }

  /** A run is closed, and all of its tasks are. */
  closeRun(run: RunState): void {
    if (this.#keepsClosed || run.revived) return;
    this.#runs.delete(run.run);
    this.#closedRuns.add(run);
  }

  /** What has to be read before something can be folded that comes to this task; undefined if nothing. */
  needOf(entry: AdmittedEvent): HistoryNeed | undefined {
    const { run: runId, task } = entry.event;
    const run = this.#runs.get(runId);
    if (run !== undefined && !isLeft(run, task)) return undefined;
    if (this.refuseUnread(entry) !== undefined) return undefined;
    const warm = this.#warm.get(runId, task);
    return (run === undefined ? warm?.run : warm?.task) === undefined ? needOf(runId, task, run?.subFleets) : undefined;
  }

  /** Keeps what was read: of an open run the task, else the run. @param past as the log has it */
  keepRead({ run, task }: HistoryNeed, past: RunState): void {
    this.#warm.keep(run, task, this.#runs.has(run) ? { task: past.tasks.get(task) } : { run: past });
  }

  /** What comes to a closed task or run and is refused in any case, whatever its history says. */
  refuseUnread(entry: AdmittedEvent): Refusal | undefined {
    const { run: runId, task } = entry.event;
    const run = this.#runs.get(runId);
    if (run !== undefined) return isLeft(run, task) ? refuseUnread(run, entry) : undefined;
    const closed = this.#closedRuns.get(runId);
    return closed && refuseUnread(closed, entry);
  }

  /** Puts what was read again in its place for one entry. */
  bringBack(runId: string, taskId: string): void {
    const run = this.#runs.get(runId);
    if (run !== undefined && !isLeft(run, taskId)) return;
    const warm = this.#warm.take(runId, taskId);
    if (run === undefined) {
      if (warm?.run === undefined) return;
      warm.run.revived = true;
      this.#runs.set(runId, warm.run);
    } else if (warm?.task !== undefined) {
      run.tasks.set(taskId, warm.task);
      this.#revivedTasks.add(warm.task);
    }
  }

  /** Takes it out again, and keeps what the entry has made of it. */
  dropRevived(runId: string, taskId: string): void {
    const run = this.#runs.get(runId);
    if (run === undefined) return;
    const task = run.tasks.get(taskId);
    if (run.revived) {
      this.#runs.delete(runId);
      this.#warm.keep(runId, taskId, { run });
      const left = this.#closedRuns.get(runId)?.closed;
      if (task !== undefined && left?.has(taskId) === true) left.learn(taskId, lateOf(task));
    }
    if (task !== undefined && this.#revivedTasks.delete(task)) {
      run.tasks.delete(taskId);
      run.closed.learn(taskId, lateOf(task));
      this.#warm.keep(runId, taskId, { task });
    }
  }
}
