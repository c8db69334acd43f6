import type { DispatchFindingCode } from "@candor/contract";
import type { Explanation } from "./explanation.js";

/** Findings on upward reports, and on intents that go beyond the terms of their task. */
export const dispatchExplanations = {
  "upward-report-missing": {
    means: "The delegation states terms for an upward report, and the agent's report holds none, or none came.",
    todo: "A person has to decide. See that the agent's answer ends with a report: `candor report check` shows what is read of it.",
  },
  "claim-differs": {
    means: "The agent's claim and the status of its upward report say different things, such as pass beside failed.",
    todo: "A person has to decide; rely on neither. Fix the runtime that makes the two.",
  },
  "verifier-missing": {
    means: "The report says completed, and the terms name no deterministic check of the work.",
    todo: "Look at the work and have a person accept or reject it. Name a verifier in the next delegation's terms.",
  },
  "verifier-failed": {
    means: "The verifier did not pass: it failed, did not end within its time limit, or could not say.",
    todo: "Read its output in the receipt. Do not ask the agent whether it is right; a person has to decide.",
  },
  "mechanism-unproven": {
    means:
      "The check passes without the new mechanism as well, or was not run without it, so the mechanism is not what made the work pass.",
    todo: "A person has to decide whether the mechanism is worth keeping.",
  },
  "budget-spent": {
    means: "The task failed and no re-dispatch is left. `about` is how many were used, of how many.",
    todo: "A person has to decide; an approval with further re-dispatches allows one more.",
  },
  "escalation-requested": {
    means: "The agent asks for a person.",
    todo: "Read its reason and decide.",
  },
  "authority-denied": {
    means: "The agent was not allowed to do what the task needs.",
    todo: "Only a person can widen what it may do: approve the authority and delegate anew, or close the task.",
  },
  "task-blocked": {
    means: "The agent can't go on without something that it was not given.",
    todo: "Read the blockers and tell whoever can remove them; do not delegate the task again before.",
  },
  "decision-unclear": {
    means: "No row of the decision table applies, or what a row depends on is not known.",
    todo: "A person has to decide. State the missing facts in the terms of the next delegation.",
  },
  "redispatch-over-budget": {
    means: "The task was delegated again although its terms leave no re-dispatch.",
    todo: "Nothing was changed by it. Have a person approve further re-dispatches, then delegate again.",
  },
  "terms-widened": {
    means:
      "A re-delegation leaves the terms of its task out, changes its verifier, or allows more re-dispatches than before.",
    todo: "Nothing was changed by it. Delegate again under the terms that the task has.",
  },
  "authority-widened": {
    means: "A re-delegation allows more than the one before, and no person approved it.",
    todo: "Nothing was changed by it. Have a person approve the authority, or leave it out.",
  },
  "accepted-unverified": {
    means: "The task was closed as accepted although neither its verifier nor a person vouches for the result.",
    todo: "Nothing was changed by it. Run the verifier, or have a person accept; or close the task as rejected.",
  },
  "approval-unfounded": {
    means:
      "The approval names another report than the epoch's, or actions that the report does not plan, or the task has no terms.",
    todo: "Nothing was changed by it. Read the report as it stands now and ask the person again.",
  },
  "action-unapproved": {
    means: "A delegation mints a key for a planned action that no person approved.",
    todo: "Nothing was changed by it. Ask for approval first.",
  },
} as const satisfies Record<DispatchFindingCode, Explanation>;
