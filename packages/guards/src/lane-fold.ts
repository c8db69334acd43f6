import { runTask, timerKinds, type AdmittedEvent, type LogEntry } from "@candor/contract";
import { foldAgent } from "./agent-fold.js";
import { isOfFamily, type HistoryNeed } from "./history-need.js";
import { LaneRuns } from "./lane-runs.js";
import { foldOrchestrator } from "./orchestrator-fold.js";
import type { Output, TimerRequest, Verify } from "./output.js";
import { actorText, isClosed, refuseOutsider, usedUp } from "./outsider.js";
import { foldProbe } from "./probe-fold.js";
import { RunOpenings } from "./run-opening.js";
import { Speaker, timerRequest } from "./speaker.js";
import type { EpochState } from "./state.js";
import { viewTask, type TaskView } from "./task-view.js";
import { foldTimer, refuseOtherGuard } from "./timer-fold.js";
import { isOverBudget } from "./warm-history.js";

export interface LaneFoldOptions {
  /** The operator's public key, as in the streams' metadata and the guard's trust file. */
  readonly operator: string;
}

/**
 * The state of one lane as a function of its log. Folding is deterministic: no clock but the log's, no randomness,
 * no I/O. The state is updated in place, since a lane folds a hundred thousand events a second.
 */
export class LaneFold {
  readonly #lane: number;
  readonly #operator: string;
  readonly #openings: RunOpenings;
  readonly #runs: LaneRuns;

  constructor(lane: number, { operator }: LaneFoldOptions, keepsClosed = false) {
    this.#lane = lane;
    this.#operator = operator;
    this.#openings = new RunOpenings(operator);
    this.#runs = new LaneRuns(keepsClosed);
  }

  /** A fold that forgets nothing: for one run, or part of one, that is read as a whole. */
  static overHistory(lane: number, options: LaneFoldOptions): LaneFold {
    return new LaneFold(lane, options, true);
  }

  /** Open tasks in memory. */
  get openTasks(): number {
    let open = 0;
    for (const run of this.#runs.all()) open += run.tasks.size;
    return open;
  }

  /** Names what the caller must read from the log and hand to `revive` before it folds this entry. */
  needsHistory(entry: LogEntry): HistoryNeed | undefined {
    // What was collected changes nothing, and its run is long closed.
    if (entry.type === "refused" || entry.kind === "collected") return undefined;
    return this.#runs.needOf(entry);
  }

  /**
   * Brings a closed task back for one entry, by folding its history silently.
   * @param history entries of the run itself and of the task (or all of the run), in log order, all before the entry to be
   *   folded
   * @returns what has to be read instead, if that is not enough
   */
  revive(need: HistoryNeed, history: readonly LogEntry[], verify: Verify): HistoryNeed | undefined {
    if (need.whole !== true && history.some(isOfFamily)) return { ...need, whole: true };
    const past = LaneFold.overHistory(this.#lane, { operator: this.#operator });
    for (const entry of history) past.fold(entry, verify);
    const run = past.#runs.get(need.run);
    if (run !== undefined) this.#runs.keepRead(need, run);
    return undefined;
  }

  /** Folds one entry and returns what it brings forth: verdicts, quarantine records, timers. */
  fold(entry: LogEntry, verify: Verify): Output[] {
    const speaker = new Speaker(this.#lane, entry);
    if (entry.type === "refused") speaker.quarantine(entry, entry.code, entry.sentence, entry.path);
    else this.#foldEvent(entry, verify, speaker);
    return speaker.outputs;
  }

  /** Every epoch of every task in memory, the earlier ones of a task first. */
  epochs(): { readonly task: string; readonly epoch: EpochState }[] {
    return [...this.#runs.tasks()].flatMap(({ task: { task, past, current } }) => {
      const epochs = current === undefined ? [] : [...past.earlier.values(), current];
      return epochs.map((epoch) => ({ task, epoch }));
    });
  }

  /** Deadlines that are armed, for a guard that starts from here. */
  pendingTimers(): TimerRequest[] {
    const pending: TimerRequest[] = [];
    for (const { run, task } of this.#runs.tasks()) {
      for (const timer of timerKinds) {
        const armed = task.timers[timer];
        if (armed === undefined || task.current === undefined) continue;
        pending.push(timerRequest(run, task, task.current, timer, armed.deadlineMs));
      }
    }
    return pending;
  }

  /** Hex hashes of the policies of all open runs, sorted. */
  policyHashes(): string[] {
    return [...new Set([...this.#runs.all()].map((run) => run.policyText))].sort();
  }

  /** What a person may see of an open task; undefined if it is closed or unknown. */
  taskView(run: string, task: string): TaskView | undefined {
    const found = this.#runs.get(run)?.tasks.get(task);
    return found === undefined ? undefined : viewTask(found);
  }

  /** Ids of the open tasks of a run; undefined if the run is closed or unknown. */
  openTasksOf(run: string): string[] | undefined {
    const found = this.#runs.get(run);
    return found === undefined ? undefined : [...found.tasks.keys()];
  }

  #foldEvent(entry: AdmittedEvent, verify: Verify, speaker: Speaker): void {
    if (entry.kind === "collected") {
      refuseOtherGuard(entry, speaker);
      return;
    }
    const { run, task } = entry.event;
    const refusal = this.#runs.refuseUnread(entry);
    if (refusal !== undefined) {
      speaker.quarantine(entry, refusal.code, refusal.sentence, refusal.path);
      return;
    }
    this.#runs.bringBack(run, task);
    this.#route(entry, verify, speaker);
    this.#runs.dropRevived(run, task);
  }

  #route(entry: AdmittedEvent, verify: Verify, speaker: Speaker): void {
    const run = this.#runs.get(entry.event.run);
    if (run === undefined) {
      const opened = entry.kind === "run-open" ? this.#openings.open(entry, verify, speaker) : undefined;
      if (opened !== undefined) this.#runs.add(opened);
      else if (entry.kind !== "run-open")
        speaker.quarantine(entry, "no-delegation", "The log holds no opening of this run.", "run");
      return;
    }
    const { role, task: taskId } = entry.event;
    const known = taskId === runTask ? run.self : run.tasks.get(taskId);
    const outsider = isClosed(run, known) && refuseOutsider(run, known === undefined ? "" : actorText(known), entry);
    if (outsider) speaker.quarantine(entry, outsider.code, outsider.sentence, outsider.path);
    else if (role === "orch")
      foldOrchestrator({ runs: this.#runs, openings: this.#openings }, run, entry, verify, speaker);
    else if (role === "guard") foldTimer(run, entry, speaker);
    else {
      const task = run.tasks.get(taskId);
      if (task === undefined)
        speaker.quarantine(entry, "no-delegation", "The log holds no delegation of this task.", "task");
      else if (isOverBudget(run, task, entry)) {
        speaker.quarantine(entry, usedUp.code, usedUp.sentence, usedUp.path);
      } else if (role === "agent") foldAgent(run, task, entry, verify, speaker);
      else foldProbe(run, task, entry, verify, speaker);
    }
  }
}
