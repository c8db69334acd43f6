import type { Action, VerdictName } from "@candor/contract";
import type { Explanation } from "./explanation.js";

export const verdictExplanations = {
  FULL_DISCLOSURE_VERIFIED: {
    means:
      "Everything the agent recorded is in its report, and the log bears it out, within the scope that the verdict carries. An honest failure is verified too.",
    todo: "Act on the action beside it; for a pass that is proceed.",
  },
  PARTIAL_DISCLOSURE_RISK: {
    means: "Nothing contradicts the report, but something about the task can't be known from what was disclosed.",
    todo: "Look at the findings and verify or probe what they name.",
  },
  CONCEALMENT_DETECTED: {
    means: "The report and the log contradict each other: something was hidden, dropped or made up.",
    todo: 'Do not use the result. Explain each finding; see the events with "candor task show".',
  },
  RECALL_ACTIVE: {
    means: "The task is recalled. Unless the verdict is final, its acknowledgement is still awaited.",
    todo: "Wait, or follow the action: after the deadline that is escalate.",
  },
  RECALL_INFLIGHT_ACTIONS_PENDING: {
    means: "The agent acknowledged the recall and named effects that are still under way.",
    todo: "Wait for their outcomes until the window ends; do not report it as stopped.",
  },
  RECALL_COMPLETION_GRACE_EXPIRED: {
    means: "The completion window is over and not everything is known to have ended.",
    todo: "Reconcile what is in flight, or escalate if nobody acknowledged.",
  },
  RECALL_NO_SIDE_EFFECTS_SAFE: {
    means: "The agent stopped and signed that it caused no side effects, and the log agrees.",
    todo: "Nothing needs to be reconciled.",
  },
  GHOST_ACTION_DETECTED: {
    means:
      "An effect was dispatched that should not have been: after a stop, outside its keys, or under a key with two meanings; or its log tells two outcomes of it.",
    todo: "Look the effects up at their targets now, and stop whoever runs them.",
  },
  TERMINATED: {
    means: "The task is terminated and no effect is open.",
    todo: "Reconcile if the action says so: effects that ran were confirmed by nobody but the agent.",
  },
  TERMINATED_WITH_UNKNOWNS: {
    means: "The task is terminated and the outcome of some effects is unknown.",
    todo: "Look each of them up at its target before anything is repeated.",
  },
  EPOCH_ABANDONED: {
    means: "The agent of this epoch went away before its report, and the task was delegated anew.",
    todo: "Reconcile what it left open; the new epoch goes on.",
  },
  RESULTS_CONFLICT: {
    means:
      "Of two results about the same thing, or with the same evidence, one says pass and the other fail. The pairs are among the findings, the evidence to open is in the verdict.",
    todo: 'Open the evidence of both ("candor evidence cat") or have a prober look, then close the task that was wrong as rejected, or delegate it anew. Average nothing.',
  },
  RESULTS_CONSISTENT: {
    means: "Results that contradicted each other no longer do: one was withdrawn.",
    todo: "Go on with what is left.",
  },
  UNDER_DECOMPOSED: {
    means:
      "What the subagent handed back is nearly as large as what went through it, so it kept nothing away from its parent.",
    todo: "Use the result; divide the next such piece of work differently, or do it in place.",
  },
  REPORT_UNVERIFIED: {
    means: "The report says completed, and the verifier that the terms name has not been run on it yet.",
    todo: "Run the verifier and have a prober publish its receipt; do not ask the agent.",
  },
  REPORT_VERIFIED: {
    means: "The report says completed, and the verifier that the terms name passed.",
    todo: "Accept the result by closing the task, if the other judges agree.",
  },
  REPORT_APPROVED: {
    means: "A person accepted the result, whatever the verifier said.",
    todo: "Close the task as accepted. The approval in the log names the person.",
  },
  REPORT_ESCALATED: {
    means: "No row of the decision table lets the orchestrator go on by itself. The findings say why.",
    todo: "Put the report before a person, who answers by an approval, or closes or delegates the task.",
  },
  APPROVAL_PENDING: {
    means: "The report plans actions that nobody approved or refused yet. None of them gets a key before.",
    todo: 'Have a person answer each: "candor approve".',
  },
  REDISPATCH_ALLOWED: {
    means: "The task failed with blockers, and its terms leave a re-dispatch.",
    todo: "Delegate it again, with the blockers in the brief as quoted data.",
  },
  UPSTREAM_DEGRADED: {
    means:
      "Of the calls that the run's tasks made to an upstream in one window of the policy, too many did not succeed at their first try. It is about the run, and counts in no task's decision.",
    todo: "Hold back new work that needs the upstream; what was done with it stands. The figures are in the verdict.",
  },
  BLAME_UNCORROBORATED: {
    means:
      "The task failed and blames an upstream that other tasks of the run used in the same window without any trouble.",
    todo: "Have a person look at the cause before the task is delegated anew: it may lie in the task.",
  },
  BLAME_CORROBORATED: {
    means: "Another task had trouble with the upstream that this one blames, as its later report shows.",
    todo: "Nothing: it takes back an earlier BLAME_UNCORROBORATED.",
  },
  INTENT_ACCEPTED: {
    means: "The intent is the next one of its task and holds.",
    todo: "Nothing.",
  },
  INTENT_REJECTED: {
    means: "The intent was stored but does not hold; it changes nothing. The finding says why.",
    todo: "Explain the finding; issue the next intent if it is still wanted.",
  },
} as const satisfies Record<VerdictName, Explanation>;

export const actionExplanations = {
  proceed: {
    means:
      "Nothing stands in the way. A recalled or terminated task has no result; of another one the result can be used.",
    todo: "Use the result if there is one; else close the task or delegate it anew.",
  },
  wait: { means: "Something is still under way.", todo: "Wait for the next revision; it comes by itself." },
  verify: {
    means: "Something the verdict names was not shown.",
    todo: "Check it by a command or by hand, then accept or reject.",
  },
  probe: { means: "An independent look is needed.", todo: "Have a prober publish a receipt." },
  approve: { means: "A person has to agree first.", todo: "Approve or refuse what is planned." },
  redispatch: { means: "The task failed honestly.", todo: "Delegate it anew, with what was learned in the brief." },
  reconcile: {
    means: "Effects outside may or may not have happened.",
    todo: "Look each key up at its target; undo or accept.",
  },
  escalate: { means: "No rule decides this.", todo: "Put it before a person." },
  halt: { means: "The result must not be used.", todo: "Stop what depends on it and explain the findings." },
} as const satisfies Record<Action, Explanation>;
