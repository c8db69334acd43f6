import { runTask, stricter, type Action, type VerdictBody } from "@candor/contract";

export interface Decision {
  readonly action: Action;
  /**
   * All judges that spoke are final, and disclosure has spoken on the task's current epoch. Of an epoch that was stopped
   * the recall judge's word is enough where it is stricter than `proceed`, or the task was terminated and no report is due.
   */
  readonly final: boolean;
  /** The last verdict of each judge on each epoch that counts. */
  readonly verdicts: readonly VerdictBody[];
}

/** The recall judge has said its last word on this epoch, and a report could only make it stricter. */
function endsAlone({ judge, final, action, verdict }: VerdictBody): boolean {
  return judge === "recall" && final && (action !== "proceed" || verdict === "TERMINATED");
}

/** One judge says that another has a say as well, and that one has not spoken yet. */
function isAwaiting(counting: readonly VerdictBody[]): boolean {
  const spoken = new Set(counting.map(({ judge }) => judge));
  return counting.some(({ awaits = [] }) => awaits.some((judge) => !spoken.has(judge)));
}

/**
 * What the orchestrator does about a task: the strictest action over its judges' last verdicts. What the recall judge
 * found on an earlier epoch counts on: a ghost of it is still about. Verdicts on intents are about the intent alone and
 * do not count. Undefined while no judge has spoken on the current epoch.
 * @param verdicts of one task, in any order, and those on its run that concern it
 * @param epoch the task's current epoch
 */
export function decision(verdicts: readonly VerdictBody[], epoch: number): Decision | undefined {
  const last = new Map<string, VerdictBody>();
  const isStopped = verdicts.some((verdict) => verdict.judge === "recall" && verdict.epoch === epoch);
  for (const verdict of verdicts) {
    if (verdict.judge === "intent") continue;
    // That an upstream is in trouble is about new work, and about no task.
    if (verdict.judge === "upstream" && verdict.task === runTask) continue;
    // What a run's results come to together is of no epoch.
    const ofEpoch = verdict.judge !== "recall" && verdict.task !== runTask;
    if (ofEpoch && verdict.epoch !== epoch) continue;
    // A task that was stopped has no result to deal with.
    if (verdict.judge === "dispatch" && isStopped) continue;
    const name = `${verdict.judge}/${verdict.epoch}`;
    const known = last.get(name);
    if (known === undefined || known.ordinal < verdict.ordinal) last.set(name, verdict);
  }
  const counting = [...last.values()];
  const [first] = counting;
  if (first === undefined || counting.every((verdict) => verdict.epoch !== epoch)) return undefined;
  const stopped = counting.some((verdict) => verdict.epoch === epoch && endsAlone(verdict));
  const disclosed = counting.some(({ judge }) => judge === "disclosure");
  return {
    action: counting.reduce<Action>((action, verdict) => stricter(action, verdict.action), "proceed"),
    final: counting.every((verdict) => verdict.final) && (disclosed || stopped) && (isStopped || !isAwaiting(counting)),
    verdicts: counting,
  };
}
