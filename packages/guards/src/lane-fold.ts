import {
  certificateMessage,
  equalBytes,
  policyFaults,
  policyHash,
  runTask,
  timerKinds,
  type AdmittedEvent,
  type AdmittedOf,
  type Certificate,
  type LogEntry,
  type Policy,
} from "@candor/contract";
import { foldAgent, judgeEpoch } from "./agent-fold.js";
import { isTaskIntent } from "./intent.js";
import { foldRunIntent, foldTaskIntent, settle, speakIntent } from "./intent-fold.js";
import { hashText } from "./kept.js";
import { foldTimer, refuseOtherGuard } from "./timer-fold.js";
import type { Output, TimerRequest, Verify } from "./output.js";
import {
  actorText,
  ClosedRuns,
  isClosed,
  lateOf,
  refuseOutsider,
  refuseUnread,
  usedUp,
  type Refusal,
} from "./outsider.js";
import { foldProbe } from "./probe-fold.js";
import { Speaker, timerRequest } from "./speaker.js";
import { initialRun, initialTask, type EpochState, type RunState, type TaskState } from "./state.js";
import { placeOfNew, signersOf } from "./sub-fleet.js";
import { viewTask, type TaskView } from "./task-view.js";
import { speakDegraded } from "./upstream-fold.js";
import { isOverBudget, WarmHistory } from "./warm-history.js";

export interface LaneFoldOptions {
  /** The operator's public key, as in the streams' metadata and the guard's trust file. */
  readonly operator: string;
}

/** Policies that are held once for all runs; past this many each run has its own. */
const mostPolicies = 64;

/** What has to be read again before an entry can be folded: a task or run that is closed, or was never seen. */
export interface HistoryNeed {
  readonly run: string;
  readonly task: string;
  /** All of the run: where agents delegate parts of their tasks, what a task is judged by lies in other tasks too. */
  readonly whole?: true;
}

/** Whether a message of a task belongs to what has to be read. */
export function isNeeded(need: HistoryNeed, at: HistoryNeed): boolean {
  return need.run === at.run && (need.whole === true || at.task === need.task || at.task === runTask);
}

function needOf(run: string, task: string, subFleets: RunState["subFleets"]): HistoryNeed {
  return subFleets === undefined ? { run, task } : { run, task, whole: true };
}

/** Tasks to read for it, as they stand in a subject filter. */
export function neededTasks({ task, whole }: HistoryNeed): readonly string[] {
  return whole === true ? ["*"] : [...new Set([runTask, task])];
}

/** A task that is a part of another one, or that has parts. */
function isOfFamily(entry: LogEntry): boolean {
  if (entry.type === "refused" || entry.kind !== "delegate") return false;
  return entry.payload.parent !== undefined || entry.payload.subFleet !== undefined;
}

/**
 * The state of one lane as a function of its log. Folding is deterministic: no clock but the log's, no randomness,
 * no I/O. The state is updated in place, since a lane folds a hundred thousand events a second.
 */
export class LaneFold {
  readonly #lane: number;
  readonly #operator: string;
  readonly #runs = new Map<string, RunState>();
  readonly #revivedTasks = new Set<TaskState>();
  readonly #warm = new WarmHistory();
  readonly #closedRuns = new ClosedRuns();
  readonly #policies = new Map<string, Policy>();
  /** A fold over history keeps what is closed, because that is what it is asked for. */
  readonly #keepsClosed: boolean;

  constructor(lane: number, { operator }: LaneFoldOptions, keepsClosed = false) {
    this.#lane = lane;
    this.#operator = operator;
    this.#keepsClosed = keepsClosed;
  }

  /** A fold that forgets nothing: for one run, or part of one, that is read as a whole. */
  static overHistory(lane: number, options: LaneFoldOptions): LaneFold {
    return new LaneFold(lane, options, true);
  }

  /** Open tasks in memory. */
  get openTasks(): number {
    let open = 0;
    for (const run of this.#runs.values()) open += run.tasks.size;
    return open;
  }

  /** Names what the caller must read from the log and hand to `revive` before it folds this entry. */
  needsHistory(entry: LogEntry): HistoryNeed | undefined {
    // What was collected changes nothing, and its run is long closed.
    if (entry.type === "refused" || entry.kind === "collected") return undefined;
    const { run: runId, task } = entry.event;
    const run = this.#runs.get(runId);
    if (run !== undefined && !run.closed.has(task)) return undefined;
    if (this.#refuseUnread(entry) !== undefined) return undefined;
    const warm = this.#warm.get(runId, task);
    return (run === undefined ? warm?.run : warm?.task) === undefined ? needOf(runId, task, run?.subFleets) : undefined;
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
    if (run === undefined) return undefined;
    if (this.#runs.has(need.run)) this.#warm.keep(need.run, need.task, { task: run.tasks.get(need.task) });
    else this.#warm.keep(need.run, need.task, { run });
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
    const tasks = [...this.#runs.values()].flatMap((run) => [...run.tasks.values()]);
    return tasks.flatMap(({ task, past, current }) => {
      const epochs = current === undefined ? [] : [...past.earlier.values(), current];
      return epochs.map((epoch) => ({ task, epoch }));
    });
  }

  /** Deadlines that are armed, for a guard that starts from here. */
  pendingTimers(): TimerRequest[] {
    const pending: TimerRequest[] = [];
    for (const run of this.#runs.values()) {
      for (const task of run.tasks.values()) {
        for (const timer of timerKinds) {
          const armed = task.timers[timer];
          if (armed === undefined || task.current === undefined) continue;
          pending.push(timerRequest(run, task, task.current, timer, armed.deadlineMs));
        }
      }
    }
    return pending;
  }

  /** Hex hashes of the policies of all open runs, sorted. */
  policyHashes(): string[] {
    return [...new Set([...this.#runs.values()].map((run) => run.policyText))].sort();
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
    const refusal = this.#refuseUnread(entry);
    if (refusal !== undefined) {
      speaker.quarantine(entry, refusal.code, refusal.sentence, refusal.path);
      return;
    }
    this.#bringBack(run, task);
    this.#route(entry, verify, speaker);
    this.#dropRevived(run, task);
  }

  /** What comes to a closed task or run and is refused in any case, whatever its history says. */
  #refuseUnread(entry: AdmittedEvent): Refusal | undefined {
    const { run: runId, task } = entry.event;
    const run = this.#runs.get(runId);
    if (run !== undefined) return run.closed.has(task) ? refuseUnread(run, entry) : undefined;
    const closed = this.#closedRuns.get(runId);
    return closed && refuseUnread(closed, entry);
  }

  #route(entry: AdmittedEvent, verify: Verify, speaker: Speaker): void {
    const run = this.#runs.get(entry.event.run);
    if (run === undefined) {
      if (entry.kind === "run-open") this.#openRun(entry, verify, speaker);
      else speaker.quarantine(entry, "no-delegation", "The log holds no opening of this run.", "run");
      return;
    }
    const { role, task: taskId } = entry.event;
    const known = taskId === runTask ? run.self : run.tasks.get(taskId);
    const outsider = isClosed(run, known) && refuseOutsider(run, known === undefined ? "" : actorText(known), entry);
    if (outsider) speaker.quarantine(entry, outsider.code, outsider.sentence, outsider.path);
    else if (role === "orch") this.#foldOrchestrator(run, entry, verify, speaker);
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

  #openRun(entry: AdmittedOf<"run-open"> & AdmittedEvent, verify: Verify, speaker: Speaker): void {
    const { payload, event, signature, hash } = entry;
    if (signature === undefined) {
      speaker.quarantine(entry, "unsigned", "An opening must be signed by its fleet's key.");
      return;
    }
    const certified = [payload.fleet, ...payload.probers].every((certificate) =>
      this.#isCertified(certificate, verify),
    );
    const roles = payload.fleet.role === "orch" && payload.probers.every(({ role }) => role === "probe");
    const named = payload.fleet.name === event.actor && payload.operator === this.#operator;
    if (!certified || !named || !roles) {
      speaker.quarantine(
        entry,
        "untrusted-key",
        "The operator that this log trusts has not certified the keys of this run.",
        "payload.fleet",
      );
      return;
    }
    if (!verify(payload.fleet.key, hash, signature)) {
      speaker.quarantine(entry, "bad-signature", "The opening is not signed by the fleet key that it names.");
      return;
    }
    if (!equalBytes(policyHash(payload.policy), payload.policyHash)) {
      speaker.quarantine(
        entry,
        "malformed",
        "The policy hash is not the hash of the policy document.",
        "payload.policyHash",
      );
      return;
    }
    const [fault] = policyFaults(payload.policy);
    if (fault !== undefined) {
      speaker.quarantine(entry, "malformed", `${fault.code}: ${fault.sentence}.`, `payload.policy.${fault.path}`);
      return;
    }
    const run = initialRun(entry, this.#sharedPolicy(payload));
    if (foldRunIntent(run, entry, speaker)) this.#runs.set(run.run, run);
  }

  /** A policy is some kilobytes, and most runs have the same one. */
  #sharedPolicy({ policy, policyHash: hash }: AdmittedOf<"run-open">["payload"]): Policy {
    const name = hashText(hash);
    const known = this.#policies.get(name);
    if (known !== undefined) return known;
    if (this.#policies.size < mostPolicies) this.#policies.set(name, policy);
    return policy;
  }

  /** Whether the operator has certified whoever is named as a sub-fleet, if anybody is. */
  #isSubFleet(certificate: Certificate | undefined, verify: Verify): boolean {
    return certificate === undefined || (certificate.role === "orch" && this.#isCertified(certificate, verify));
  }

  #isCertified({ role, name, key, signature }: Certificate, verify: Verify): boolean {
    return verify(this.#operator, certificateMessage({ role, name, key }), signature);
  }

  #foldOrchestrator(run: RunState, entry: AdmittedEvent, verify: Verify, speaker: Speaker): void {
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
      speaker.quarantine(
        entry,
        "bad-signature",
        "No key of this fleet that is trusted at this point signed the intent.",
      );
      return;
    }
    if (taskId === runTask) {
      if (entry.kind === "key-added" && !this.#isCertified(entry.payload.certificate, verify)) {
        speakIntent(run, run.self, entry, "intent-foreign", speaker);
        return;
      }
      if (foldRunIntent(run, entry, speaker)) this.#holdRunIntent(run, entry, speaker);
      return;
    }
    const task = known ?? initialTask(taskId, placeOfNew(run, entry));
    run.tasks.set(taskId, task);
    if (entry.kind === "delegate" && !this.#isSubFleet(entry.payload.subFleet, verify)) {
      speakIntent(run, task, entry, "intent-foreign", speaker);
      return;
    }
    foldTaskIntent(run, task, entry, speaker);
    const isBack = run.revived || this.#revivedTasks.has(task);
    if (isTaskIntent(entry) && task.control.standing === "closed" && !this.#keepsClosed && !isBack)
      this.#closeTask(run, task, speaker);
  }

  #holdRunIntent(run: RunState, entry: AdmittedEvent, speaker: Speaker): void {
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
        if (!this.#keepsClosed) this.#closeTask(run, task, speaker);
      }
      speakDegraded(run, speaker, { final: true });
      if (this.#keepsClosed || run.revived) return;
      this.#runs.delete(run.run);
      this.#closedRuns.add(run);
    }
  }

  #closeTask(run: RunState, task: TaskState, speaker: Speaker): void {
    // Whether evidence is there is looked up all the same.
    for (const timer of ["settle", "acknowledge", "grace"] as const) speaker.cancel(run, task, timer);
    this.#revivedTasks.delete(task);
    run.tasks.delete(task.task);
    run.closed.set(task.task, { actors: run.shared.text(actorText(task)) });
  }

  /** Puts what was read again in its place for one entry. */
  #bringBack(runId: string, taskId: string): void {
    const run = this.#runs.get(runId);
    if (run !== undefined && !run.closed.has(taskId)) return;
    const warm = this.#warm.take(runId, taskId);
    if (run === undefined) {
      if (warm?.run === undefined) return;
      warm.run.revived = true;
      this.#runs.set(runId, warm.run);
    } else if (warm?.task !== undefined) {
      run.closed.delete(taskId);
      run.tasks.set(taskId, warm.task);
      this.#revivedTasks.add(warm.task);
    }
  }

  #dropRevived(runId: string, taskId: string): void {
    const run = this.#runs.get(runId);
    if (run === undefined) return;
    if (run.revived) {
      this.#runs.delete(runId);
      this.#warm.keep(runId, taskId, { run });
    }
    const task = run.tasks.get(taskId);
    const left = run.revived ? this.#closedRuns.get(runId)?.closed.get(taskId) : undefined;
    if (task !== undefined && left !== undefined) Object.assign(left, lateOf(task));
    if (task !== undefined && this.#revivedTasks.delete(task)) {
      run.tasks.delete(taskId);
      run.closed.set(taskId, { actors: run.shared.text(actorText(task)), ...lateOf(task) });
      this.#warm.keep(runId, taskId, { task });
    }
  }
}
