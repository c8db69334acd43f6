import { judges, type Judge } from "@candor/contract";
import { lastSpoken } from "./spoken.js";
import type { TaskState } from "./state.js";

/** An open task as the state API and the command line show it. */
export interface TaskView {
  readonly task: string;
  readonly standing: string;
  readonly control: number;
  readonly epoch: number;
  readonly actor: string | undefined;
  readonly accepted: boolean;
  readonly mode: string | undefined;
  readonly events: number;
  readonly waiting: number;
  readonly errors: number;
  readonly retries: number;
  readonly reported: boolean;
  readonly effects: readonly {
    readonly key: string;
    readonly intent: string;
    readonly target: string;
    readonly phase: string;
  }[];
  readonly timers: Readonly<Record<string, { readonly deadlineMs: number }>>;
  /** How many verdicts each judge has spoken. */
  readonly verdicts: Readonly<Partial<Record<Judge, number>>>;
}

export function viewTask(task: TaskState): TaskView {
  const { current } = task;
  const spoken: Partial<Record<Judge, number>> = {};
  for (const judge of judges) {
    const last = lastSpoken(task, judge);
    if (last !== undefined) spoken[judge] = last.ordinal;
  }
  return {
    task: task.task,
    standing: task.control.standing ?? "unknown",
    control: task.control.control,
    epoch: task.control.epoch,
    actor: current?.actor,
    accepted: current?.taskKey !== undefined,
    mode: current?.mode,
    events: current?.chain.count ?? 0,
    waiting: current?.chain.waiting ?? 0,
    errors: current?.disclosure.tally.errorCount ?? 0,
    retries: current?.disclosure.tally.retryCount ?? 0,
    reported: current?.disclosure.report !== undefined,
    effects: current?.effects.all.map(({ key, intent, target, phase }) => ({ key, intent, target, phase })) ?? [],
    timers: { ...task.timers },
    verdicts: spoken,
  };
}
