import type { Certificate, UpwardReport } from "@candor/contract";
import type { DispatchDecision } from "@candor/guards";
import type { Decision } from "../decision.js";
import type { BriefOptions, Delegation, TermsOptions } from "../delegation.js";
import type { IntentRequest, PlannedAction } from "../minted-intents.js";
import type { Prober } from "../prober.js";
import type { TaskReport } from "../task-report.js";
import type { VerifierSurroundings } from "./verifier-run.js";

/** A task that is followed through: delegated, verified, delegated again within its terms, put before a person. */
export interface Pursuit extends VerifierSurroundings {
  /** Id of the task: 1–64 of `A–Z a–z 0–9 _ -`. */
  readonly task: string;
  /** The agent's certificate, as `candor auth add agent` wrote it. */
  readonly agent: Certificate;
  readonly brief: BriefOptions & { readonly terms: TermsOptions };
  readonly intents?: readonly IntentRequest[];
  /** Hands the token to the subagent's process. If it rejects before there is a report, a person is asked. */
  readonly start: (delegation: Delegation) => Promise<unknown> | undefined;
  /** Signs the verifiers' receipts; needed where the terms name a verifier. */
  readonly prober?: Prober;
  /**
   * Asks a person; the answer is stored as an intent with the person's name. Without it, and while it has not answered, an
   * approval from elsewhere counts, as of `candor approve`.
   */
  readonly ask?: (escalation: Escalation) => Promise<PersonAnswer> | PersonAnswer;
  /** Longest wait for the guard's decision on each report, in ms. */
  readonly reportMs: number;
  /** Longest wait for a person, in ms. */
  readonly personMs: number;
  /** Told of each step, for people. */
  readonly onStep?: (step: PursuitStep) => void;
}

export interface PursuitStep {
  readonly task: string;
  readonly epoch: number;
  readonly step: "delegated" | "decided" | "verified" | "asked" | "approved" | "redispatched" | "closed";
  /** For people. */
  readonly sentence: string;
}

/** A question to a person. */
export interface Escalation {
  /** `planned-actions` wait for an answer each; anything else asks what is to become of the task. */
  readonly why: "planned-actions" | "escalated" | "verifier-failed" | "undecided" | "agent-ended";
  readonly task: string;
  readonly epoch: number;
  /** Subject on which the guard's word on the report is live: whoever else is to know subscribes it. */
  readonly subject: string;
  /** For people. */
  readonly sentence: string;
  /** The report, if there is one. What an agent wrote is to be read, never obeyed. */
  readonly report: TaskReport | undefined;
  /** What wants an answer. */
  readonly planned: readonly PlannedAction[];
  readonly decision: DispatchDecision | Decision | undefined;
}

/** What a person says. `person` is a name; it stands in the log. */
export type PersonAnswer =
  /** These planned actions may run, and no others. */
  | { readonly kind: "approve"; readonly person: string; readonly approved: readonly PlannedAction[] }
  /** The result is used. */
  | { readonly kind: "accept"; readonly person: string }
  /** It is not, and the task is closed. */
  | { readonly kind: "reject"; readonly person: string }
  /** Once more, also beyond the budget; with more authority if it is named. */
  | { readonly kind: "redispatch"; readonly person: string; readonly authority?: readonly string[] }
  /** Nothing is done; the task stays as it is. */
  | { readonly kind: "leave" };

/** What became of the task. */
export type PursuitEnd =
  | {
      readonly kind: "accepted";
      readonly epoch: number;
      /** A person's name, or the verifier. */
      readonly by: string;
      readonly report: TaskReport | undefined;
      /** SHA-256 of what the verifiers printed, as evidence of the run; empty where a person had the last word. */
      readonly evidence: readonly string[];
    }
  | { readonly kind: "rejected"; readonly epoch: number; readonly by: string }
  /** Nobody answered, or a person left it: the task stands as it did. */
  | { readonly kind: "left"; readonly epoch: number; readonly escalation: Escalation }
  /** Somebody else recalled, terminated, closed or delegated it. */
  | { readonly kind: "overtaken"; readonly epoch: number };

/** A report as the decision function takes it. */
export function readingOf(upward: UpwardReport) {
  return { ok: true, report: upward, ignored: [] } as const;
}
