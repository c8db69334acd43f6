import { CandorError, type Brief, type Certificate, type ScopeDimension } from "@candor/contract";
import { verifierDigest, type Verifier } from "@candor/guards";
import { checkCertificate, seal } from "@candor/ledger";
import type { IntentRequest } from "./minted-intents.js";
import { requireVerifier } from "./required.js";

/** What the subagent is to do. Prose is sealed under the run's data key before it leaves this process. */
export interface BriefOptions {
  /** Prose for people. */
  readonly title?: string;
  /** Prose for the subagent. */
  readonly instructions?: string;
  /** Parts of the work that the report must say a state of. */
  readonly keyTasks?: readonly string[];
  /** A critical task gets no clean verdict without an independent probe. */
  readonly critical?: boolean;
  /** The orchestrator can check success itself, so a bare success will do. */
  readonly directlyVerifiable?: boolean;
  /** Retries that the subagent may make; 10 by default. */
  readonly retryBudget?: number;
  /** Whether the plan's next step needs the result; true by default. The policy treats a failure by it. */
  readonly resultNeeded?: boolean;
  /** Longest completion window after a recall, in ms; the policy's by default. */
  readonly maxGraceMs?: number;
  /** Names of what the subagent may do, in words of your own; recorded in the brief. */
  readonly authority?: readonly string[];
  /**
   * What the result is about: files, records, questions, in names of your own. Of two results that share one, or point to
   * the same evidence, one must not say pass and the other fail.
   */
  readonly examines?: readonly string[];
  /** Dimensions of observation that the verdict can't do without. */
  readonly needs?: readonly ScopeDimension[];
  /** What you may do about the report. The guard then judges the report (judge `dispatch`) and holds you to the terms. */
  readonly terms?: TermsOptions;
}

/** What may be done about a task's upward report, fixed before there is one (U3). */
export interface TermsOptions {
  /** Re-dispatches of the task beyond its first delegation. */
  readonly redispatches: number;
  /** The deterministic check of the work; without one a person has to accept. */
  readonly verifier?: Verifier;
  /** The same check without the new mechanism, for a report with little confidence. */
  readonly ablation?: Verifier;
  /** Whether the work brings in a mechanism that has to be shown to make the difference; false by default. */
  readonly newMechanism?: boolean;
}

export interface DelegateOptions {
  /** Id of the task: 1–64 of `A–Z a–z 0–9 _ -`. */
  readonly task: string;
  /** The agent's certificate, as `candor auth add agent` wrote it. */
  readonly agent: Certificate;
  readonly brief?: BriefOptions;
  /** Effects that the subagent may have; each gets a key before any attempt. */
  readonly intents?: readonly IntentRequest[];
  /**
   * The fleet as which the agent may delegate parts of the task, as `candor auth add orchestrator` wrote its certificate. Its
   * process takes the run up with `join`.
   */
  readonly subFleet?: Certificate;
  /** Log time in ms since 1970 after which the guard rejects the delegation as expired; never by default. */
  readonly notAfterMs?: number;
}

/** A task in an agent's hands. */
export interface Delegation {
  /** For the subagent's process, by file descriptor, file of mode 0600 or message; never in an argument list. A secret. */
  readonly token: string;
  readonly task: string;
  readonly epoch: number;
  readonly control: number;
  /** Stream sequence in the log. */
  readonly sequence: number;
  readonly hash: Uint8Array;
  /** The minted key of each named effect. */
  readonly intentKeys: Readonly<Record<string, string>>;
}

/** The brief as it goes onto the wire. */
export function sealBrief(brief: BriefOptions, dataKey: Uint8Array): Brief {
  const { title, instructions, maxGraceMs, resultNeeded } = brief;
  return {
    ...(title === undefined ? {} : { title: seal(title, dataKey) }),
    ...(instructions === undefined ? {} : { instructions: seal(instructions, dataKey) }),
    keyTasks: [...(brief.keyTasks ?? [])],
    critical: brief.critical ?? false,
    directlyVerifiable: brief.directlyVerifiable ?? false,
    retryBudget: brief.retryBudget ?? 10,
    ...(resultNeeded === undefined ? {} : { resultNeeded }),
    ...(maxGraceMs === undefined ? {} : { maxGraceMs }),
    authority: [...(brief.authority ?? [])],
    needs: [...(brief.needs ?? [])],
    ...(brief.examines === undefined ? {} : { examines: [...brief.examines] }),
    ...(brief.terms === undefined ? {} : { terms: pinTerms(brief.terms) }),
  };
}

function pinTerms({
  redispatches,
  verifier,
  ablation,
  newMechanism = false,
}: TermsOptions): NonNullable<Brief["terms"]> {
  if (verifier !== undefined) requireVerifier(verifier, "brief.terms.verifier");
  if (ablation !== undefined) requireVerifier(ablation, "brief.terms.ablation");
  return {
    redispatches,
    ...(verifier === undefined ? {} : { verifier: { kind: verifier.kind, digest: verifierDigest(verifier) } }),
    ...(ablation === undefined ? {} : { ablation: verifierDigest(ablation) }),
    newMechanism,
  };
}

/**
 * Checks that a certificate is the operator's, for that role.
 *
 * @throws CandorError `untrusted-key`
 */
export function requireRole(certificate: Certificate, role: "agent" | "probe" | "orch", operator: string): void {
  checkCertificate(operator, certificate);
  if (certificate.role === role) return;
  const hint = certificate.role === "orch" ? " A fleet's replicas share its one key, so none of theirs is added." : "";
  throw new CandorError(
    "untrusted-key",
    `The certificate of ${certificate.name} is for the role ${certificate.role}, and ${role} is needed.${hint}`,
    { details: { role: certificate.role, name: certificate.name } },
  );
}
