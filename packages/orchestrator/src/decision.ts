import { setTimeout as pause } from "node:timers/promises";
import type { Action, VerdictBody } from "@candor/contract";
import { decision as decide, undecidedExplanations } from "@candor/guards";
import type { TaskView } from "./run-view.js";
import { headOf, isPending } from "./task-line.js";
import { aborted, longestTimerMs, within } from "./time-limit.js";

/** Why there is no decision: nobody judges, the guard is behind, nothing was reported, or it is not through. */
export type Undecided = keyof typeof undecidedExplanations;

export interface Decided {
  readonly kind: "decided";
  /** What to do: the strictest action of the judges. */
  readonly action: Action;
  readonly final: true;
  readonly epoch: number;
  /** The latest verdict of each judge that counts. */
  readonly verdicts: readonly VerdictBody[];
}

export interface NotDecided {
  readonly kind: "undecided";
  readonly why: Undecided;
  /** Messages of the lane that the guard has not folded yet. */
  readonly behind?: number;
  /** For people. */
  readonly sentence: string;
  /** What is known so far; nothing of it is final as a whole. */
  readonly verdicts: readonly VerdictBody[];
}

export type Decision = Decided | NotDecided;

/** What a guard says of a lane that it runs. */
export interface GuardState {
  /** Messages of the lane that it has not folded yet. */
  readonly behind: number;
  /** Why it stopped, if it found the log at fault. */
  readonly halted?: { readonly code: string; readonly message: string };
}

export interface DecisionPort {
  /** Looks up what other replicas may have stored. */
  readonly refresh: () => Promise<void>;
  /** The task as it is known now. */
  readonly view: () => TaskView;
  /** Resolves at the next change of what is known, or at the signal. */
  readonly changed: (signal: AbortSignal) => Promise<void>;
  /** Asks whoever runs the lane; undefined if nobody answers within `timeoutMs`. */
  readonly guardState: (timeoutMs: number) => Promise<GuardState | undefined>;
  readonly isConnected: () => boolean;
}

/** Pause before the last intent is looked up again, after a failure. */
const refreshMs = 200;

/** Shortest and longest wait for a guard to say how it stands. */
const stateLimits = { leastMs: 100, mostMs: 500 } as const;

/** True once the recall judge has spoken on the order to stop that is in force. */
function isStopJudged({ line, standing, verdicts }: TaskView): boolean {
  if (standing?.state !== "recalled" && standing?.state !== "terminated") return true;
  const stop = headOf(line);
  return verdicts.some(
    ({ judge, epoch, verdict, cause }) =>
      judge === "recall" &&
      epoch === standing.epoch &&
      // A ghost action outlasts a later order, so that there is nothing new to say.
      (verdict === "GHOST_ACTION_DETECTED" || cause.last >= (stop?.sequence ?? 0)),
  );
}

function decided(view: TaskView): Decided | undefined {
  const { line, standing } = view;
  // Until the guard has spoken on the last intent, its verdicts may be from before that intent.
  if (standing === undefined || isPending(line) || !isStopJudged(view)) return undefined;
  const { epoch } = standing;
  const found = decide(view.verdicts, epoch);
  if (found?.final !== true) return undefined;
  return { kind: "decided", action: found.action, final: true, epoch, verdicts: found.verdicts };
}

function undecided(why: Undecided, { verdicts }: TaskView, behind?: number): NotDecided {
  return {
    kind: "undecided",
    why,
    ...(behind === undefined ? {} : { behind }),
    sentence: `${undecidedExplanations[why].means} ${undecidedExplanations[why].todo}`,
    verdicts,
  };
}

function explain(port: DecisionPort, guard: GuardState | undefined): NotDecided {
  const view = port.view();
  const { line, standing, verdicts } = view;
  if (!port.isConnected()) return undecided("disconnected", view);
  if (standing === undefined && !isPending(line)) return undecided("not-delegated", view);
  if (guard === undefined) return undecided("no-guard", view);
  if (guard.halted !== undefined) return undecided("guard-halted", view);
  if (guard.behind > 0) return undecided("lane-behind", view, guard.behind);
  if (isPending(line)) return undecided("lane-behind", view, 1);
  const isReported = verdicts.some(({ judge, epoch }) => judge !== "intent" && epoch === standing?.epoch);
  return undecided(isReported ? "not-final" : "no-report", view);
}

/**
 * Waits until all judges of a task's epoch are final, and returns the strictest of their actions. Never waits longer
 * than `timeoutMs`: then it says why there is no decision (Q8).
 *
 * @param timeoutMs at least 100, which it takes to ask the guard how it stands
 */
export async function waitForDecision(port: DecisionPort, timeoutMs: number): Promise<Decision> {
  const limitMs = Math.min(timeoutMs, longestTimerMs);
  const stateMs = Math.min(Math.max(limitMs / 2, stateLimits.leastMs), stateLimits.mostMs);
  const guard: { state: GuardState | undefined } = { state: undefined };
  const ask = setTimeout(
    () => {
      void port.guardState(stateMs).then((state) => {
        guard.state = state;
      });
    },
    Math.max(limitMs - stateMs, 0),
  );
  try {
    return await within(Math.max(limitMs, stateMs), async (signal) => {
      await untilFresh(port, signal);
      for (;;) {
        const found = signal.aborted ? undefined : decided(port.view());
        if (found !== undefined) return found;
        if (signal.aborted) return explain(port, guard.state);
        await port.changed(signal);
      }
    });
  } finally {
    clearTimeout(ask);
  }
}

/** Without the task's last intent at hand, what is known may be about an earlier state of it. */
async function untilFresh(port: DecisionPort, signal: AbortSignal): Promise<void> {
  let fresh = false;
  while (!fresh && !signal.aborted) {
    const looked = port.refresh().then(
      () => true,
      () => pause(refreshMs, false),
    );
    fresh = (await Promise.race([looked, aborted(signal)])) === true;
  }
}
