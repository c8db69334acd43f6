import type { Action, FindingCode, PropagatedFailure, VerdictName } from "@candor/contract";
import type { DemoTask } from "./demo-task.js";
import type { Expected, Plan, Truth } from "./plan.js";

/** What the guard said in the end. */
export interface Judged {
  readonly verdict: VerdictName;
  readonly action: Action;
  readonly findings: readonly FindingCode[];
  /** Verdicts of the same judge in order, this one last. */
  readonly story: readonly VerdictName[];
  /** How the failure came up, layer by layer, where the guard says that the task failed. */
  readonly chain?: readonly string[];
}

/** The way of a failure up in words: who failed, and what each layer did. */
export function chainOf({ origin, layers }: PropagatedFailure): string[] {
  const deeds = layers.map(({ actor, did, downgraded }) => `${actor} ${did}${downgraded ? ", a downgrade" : ""}`);
  return [`${origin.actor} failed`, ...deeds];
}

/** One line of the table. */
export interface Row extends DemoTask {
  readonly right: boolean;
  readonly truth?: Truth;
  readonly judged?: Judged;
  /** Why there is no truth or no verdict. */
  readonly problem?: string;
}

/** True if the guard said exactly what had to be said. */
export function isRight(expected: Expected, { action, findings, story, verdict, chain = [] }: Judged): boolean {
  const isFound = expected.findings.every((code) => findings.includes(code));
  const isSilent = expected.findings.length > 0 || findings.length === 0;
  const isToldOnTheWay = (expected.onTheWay ?? []).every((name) => story.includes(name));
  const isWayTold = expected.chain === undefined || expected.chain.join("; ") === chain.join("; ");
  const isVerdict = verdict === expected.verdict && action === expected.action;
  return isVerdict && isFound && isSilent && isToldOnTheWay && isWayTold;
}

export function rowOf(
  { agent, task, title }: Plan,
  found: { readonly truth: Truth; readonly judged: Judged } | { readonly problem: string },
): Row {
  const plan = { task, agent, title };
  if ("problem" in found) return { ...plan, right: false, problem: found.problem };
  const { judged, truth } = found;
  return { ...plan, right: isRight(truth.expected, judged), truth, judged };
}
