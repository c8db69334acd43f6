import type { DisclosureFindingCode } from "@candor/contract";
import type { Explanation } from "./explanation.js";

/** Findings of the disclosure judge. */
export const disclosureExplanations = {
  "report-missing": {
    means: "The settle window is over, or the task was closed, and the log holds no report of this epoch.",
    todo: 'See in "candor task show" what the agent did last; then terminate the task or delegate it anew.',
  },
  "receipt-mismatch": {
    means:
      "The error log receipt that the agent signed does not fit the log: another count, first or last number, or head hash; or the receipts are missing; or an event followed the report that may not follow one. `about` names the field.",
    todo: 'Do not use the result. Compare the receipt with the events in "candor task show"; events may have been held back or dropped.',
  },
  "log-gap": {
    means:
      "An event of the agent's numbered chain never reached the log, and the window for late arrival is over. `about` is the first number that is missing.",
    todo: "Do not use the result. Look for the missing event in the agent's spool; if it is there, the publisher lost it, else it was withheld.",
  },
  "log-fork": {
    means:
      "The agent signed two different events under one number: it told two stories, or two processes wrote one chain.",
    todo: "Do not use the result. See that only one process runs the agent, and delegate anew under a new epoch.",
  },
  "chain-broken": {
    means: "An event's `prev` is not the hash of the event before it: one of the two was changed or made up.",
    todo: 'Do not use the result. Run "candor audit" to see whether the log itself was changed; if it was not, the agent\'s recorder is at fault.',
  },
  "tally-mismatch": {
    means:
      "A tally in the receipts (by kind, by type, the list of errors, the retries, the unseen layers) differs from what the log adds up to. `about` names it.",
    todo: 'Do not use the result. List the events in "candor task show" and compare; an honest SDK computes these by code.',
  },
  "retry-undisclosed": {
    means:
      "The log holds a retry that the retry manifest does not list, or lists differently: retry masking. `about` is its number.",
    todo: 'Do not use the result. Find the retry in "candor task show" and ask why the runtime left it out.',
  },
  "effect-undeclared": {
    means: "The agent dispatched an effect that its report does not own up to. `about` is the intent key.",
    todo: "Look the key up at the downstream service before anything else, then reconcile.",
  },
  "key-task-unreported": {
    means:
      "The brief names a part of the work and the report states no status for it: silent partial completion. `about` is the part.",
    todo: "Verify that part yourself, or delegate it anew.",
  },
  "unrecovered-under-success": {
    means:
      "The report claims success although an error was never recovered, or an effect has no outcome. `about` says which.",
    todo: 'Do not take it for a success. Read the error in "candor task show" and delegate anew, or repair.',
  },
  "failure-turned-success": {
    means:
      "A failure was overwritten: a finish reason, a part of the work, or an earlier report says failed, the claim says pass.",
    todo: "Treat the task as failed.",
  },
  "no-work": {
    means:
      "The report claims success and the log shows no call that succeeded, no committed effect and no recovered error.",
    todo: "Treat the result as made up until a probe or you have seen it. If success can be checked directly, say so in the brief.",
  },
  "confidence-mismatch": {
    means:
      "The confidence score in the report is not what the documented formula gives for the log. `about` is the right score.",
    todo: "Do not use the reported score. The SDK computes it by code, so see where the agent got another from.",
  },
  "probe-missing": {
    means: "The task is critical and no independent prober has confirmed or contradicted it.",
    todo: "Have a prober look and publish its receipt; the verdict then gets a new revision.",
  },
  "probe-contradicts": {
    means: "An independent prober found that what the agent claims is not so.",
    todo: "Treat the task as failed and look at what the prober saw.",
  },
  "probe-not-independent": {
    means: "A probe receipt was signed by the agent's own identity or key, so it proves nothing.",
    todo: "Have another prober look, one with a key of its own.",
  },
  "scope-unseen": {
    means: "The brief needs a dimension observed that the runtime says it cannot see. `about` is the dimension.",
    todo: "Check that dimension in another way, or run the agent under an adapter that observes it.",
  },
  "dangling-evidence": {
    means: "The report points to evidence that is not stored.",
    todo: "Do not rely on it. Ask for the evidence, or delegate anew.",
  },
  "finish-reason-missing": {
    means: "The runtime could not say why the agent ended, so an error may hide behind an empty answer.",
    todo: "Verify the result yourself; have the adapter hand over the finish reason.",
  },
  "child-without-report": {
    means: "The agent delegated a part of its work and that part ended without a report.",
    todo: "Look at the child task, and verify what it was to do.",
  },
  "failure-mismatch": {
    means:
      "The failure that the report owns up to is not the error event that it names: its type, finality, place, tries or effects differ, or nothing of that number failed. `about` is the number.",
    todo: 'Do not act on the stated failure. See the events with "candor task show", and find out what made the report.',
  },
  "hop-dropped": {
    means:
      "The agent delegated a part of its task, that part failed, and the report says nothing of it. `about` is the part.",
    todo: 'Look at the part itself with "candor task show": its failure, and what it did before. Whoever delegates waits for its parts and passes their failures up.',
  },
  "hop-rewritten": {
    means:
      "The agent passed a failure of one of its parts up as something else than what the part said, or names a failure that the part never stated. `about` is the part.",
    todo: 'Trust what the part said itself ("candor task show" on it), and find out who changed it on the way.',
  },
  "hop-reordered": {
    means:
      "The agent passed a failure up by an earlier layer's word instead of the last one's, so that what a layer between did is left out. `about` is the part.",
    todo: 'Read the chain of the part itself with "candor task show"; the layer that was left out is in it.',
  },
} as const satisfies Record<DisclosureFindingCode, Explanation>;
