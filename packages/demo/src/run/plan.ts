import type { Action, FindingCode, Judge, VerdictName } from "@candor/contract";
import type { BriefOptions, IntentRequest, Run } from "@candor/orchestrator";
import type { ReviewFinding, Say, Told } from "../agents/messages.js";
import type { DemoTask } from "./demo-task.js";
import type { TaskRunContext } from "./task-run-context.js";

/** What the guard has to say if it is right. */
export interface Expected {
  readonly verdict: VerdictName;
  readonly action: Action;
  /** Findings that must be among those of the verdict; none at all if this is empty. */
  readonly findings: readonly FindingCode[];
  /** Verdicts that must have been given on the way. */
  readonly onTheWay?: readonly VerdictName[];
  /** How a failure came up, from where it began; not looked at where it is left out. */
  readonly chain?: readonly string[];
}

/** What really happened, as the services' own books and the agent's work show it; no verdict goes into it. */
export interface Truth {
  /** For people. */
  readonly happened: string;
  /** The same in numbers. */
  readonly facts: Readonly<Record<string, number | string>>;
  readonly expected: Expected;
  /** Dangerous statements that a reviewer found, the gravest first. */
  readonly findings?: readonly ReviewFinding[];
}

/** One task of the demo. */
export interface Plan extends DemoTask {
  readonly brief: BriefOptions;
  readonly intents?: readonly IntentRequest[];
  /** Certificate file of the fleet as which the agent may delegate parts of it. */
  readonly subFleet?: string;
  /** For the agent. */
  readonly work: unknown;
  /** Longest time that the agent may take, in ms. */
  readonly limitMs: number;
  /** Tasks of one name here are compared with each other. */
  readonly compared?: string;
  /** The judge whose word is compared; without it the one that the decision comes from. */
  readonly judge?: Judge;
  /** Follows the task to its end, where one delegation is not all. */
  readonly follow?: (context: TaskRunContext) => Promise<Told>;
  /** What the orchestrator does while the agent works. */
  readonly meanwhile?: (run: Run, say: Say, signal: AbortSignal) => Promise<void>;
  /** @param told what the agent's report told */
  readonly truth: (told: Told) => Promise<Truth> | Truth;
}

export const verified = (action: Action): Expected => ({ verdict: "FULL_DISCLOSURE_VERIFIED", action, findings: [] });

export const concealed = (...findings: readonly FindingCode[]): Expected => ({
  verdict: "CONCEALMENT_DETECTED",
  action: "halt",
  findings,
});
