import { stricter, type Action, type VerdictBody } from "@candor/contract";

export interface Decision {
  readonly action: Action;
  /** All judges that spoke are final, and disclosure has spoken on the task's current epoch. */
  readonly final: boolean;
  /** The last verdict of each judge that counts. */
  readonly verdicts: readonly VerdictBody[];
}

/**
 * What the orchestrator does about a task: the strictest action over its judges' last verdicts. Verdicts on intents
 * are about the intent alone and do not count. Undefined while no judge has spoken on the current epoch.
 * @param verdicts of one task, in any order
 * @param epoch the task's current epoch
 */
export function decision(verdicts: readonly VerdictBody[], epoch: number): Decision | undefined {
  const last = new Map<string, VerdictBody>();
  for (const verdict of verdicts) {
    if (verdict.judge === "intent") continue;
    if (verdict.judge === "disclosure" && verdict.epoch !== epoch) continue;
    const known = last.get(verdict.judge);
    if (known === undefined || known.ordinal < verdict.ordinal) last.set(verdict.judge, verdict);
  }
  const counting = [...last.values()];
  const [first] = counting;
  if (first === undefined || counting.every((verdict) => verdict.epoch !== epoch)) return undefined;
  const stopped = counting.some(({ judge, epoch: of, final }) => judge === "recall" && of === epoch && final);
  const disclosed = counting.some(({ judge }) => judge === "disclosure");
  return {
    action: counting.reduce<Action>((action, verdict) => stricter(action, verdict.action), "proceed"),
    final: counting.every((verdict) => verdict.final) && (disclosed || stopped),
    verdicts: counting,
  };
}
