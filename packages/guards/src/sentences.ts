import { cutText, type Finding, type VerdictName } from "@candor/contract";

/** One sentence a verdict, for people; no code branches on it. */
const opening = {
  FULL_DISCLOSURE_VERIFIED: "Everything the agent recorded is in its report, and the log bears it out",
  PARTIAL_DISCLOSURE_RISK: "Something about this task can't be known from what was disclosed",
  CONCEALMENT_DETECTED: "The report and the log contradict each other",
  RECALL_ACTIVE: "The recall holds",
  RECALL_INFLIGHT_ACTIONS_PENDING: "The recall holds and effects are still in flight",
  RECALL_COMPLETION_GRACE_EXPIRED: "The completion window is over and not everything is known to have ended",
  RECALL_NO_SIDE_EFFECTS_SAFE: "The agent stopped and signed that it caused no side effects; the log agrees",
  GHOST_ACTION_DETECTED: "An effect was dispatched that should not have been",
  TERMINATED: "The task is terminated and no effect is open",
  TERMINATED_WITH_UNKNOWNS: "The task is terminated and the outcome of some effects is unknown",
  EPOCH_ABANDONED: "The agent of this epoch went away before its report",
  REPORT_UNVERIFIED: "The report says completed, and its verifier has not been run yet",
  REPORT_VERIFIED: "The report says completed, and its verifier bears it out",
  REPORT_APPROVED: "A person accepted the result",
  REPORT_ESCALATED: "A person has to decide about this report",
  APPROVAL_PENDING: "The report plans actions that wait for a person's approval",
  REDISPATCH_ALLOWED: "The task failed, and the terms leave a re-dispatch with its blockers",
  UPSTREAM_DEGRADED: "Too many calls of this run's tasks to an upstream did not succeed at their first try",
  BLAME_UNCORROBORATED: "The task blames an upstream that other tasks used at the same time without any trouble",
  BLAME_CORROBORATED: "Another task had trouble with the upstream that this one blames",
  INTENT_ACCEPTED: "The intent is the next of its task and holds",
  RESULTS_CONFLICT: "Results of this run say the opposite of the same thing",
  RESULTS_CONSISTENT: "No two results of this run contradict each other any more",
  UNDER_DECOMPOSED: "The result is nearly as large as the work behind it",
  INTENT_REJECTED: "The intent does not hold; it changes nothing",
} as const satisfies Record<VerdictName, string>;

const most = 5;

/** @param dropped how many findings there are beside those */
export function sentenceOf(verdict: VerdictName, findings: readonly Finding[], dropped = 0): string {
  if (findings.length === 0) return `${opening[verdict]}.`;
  const named = findings
    .slice(0, most)
    .map(({ code, about }) => (about === undefined ? code : `${code} (${cutText(about, 80)})`));
  const rest = findings.length - named.length + dropped;
  const more = rest > 0 ? ` and ${rest} more` : "";
  return `${opening[verdict]}: ${named.join(", ")}${more}.`;
}
