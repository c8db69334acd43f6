import { stricter, type DispatchFindingCode, type Finding, type UpwardReport } from "@candor/contract";
import { dispatch, type DispatchDecision, type EscalateDecision } from "./dispatch.js";
import type { DispatchState } from "./dispatch-state.js";
import type { Judgement } from "./judgement.js";
import { none, type KeptTerms } from "./kept.js";
import { acceptance, type Verifier, type VerifierOutcome } from "./verifier.js";

type Said = Pick<Judgement, "verdict" | "action"> & { readonly codes?: readonly DispatchFindingCode[] };

/** What is decided of a report, whatever it plans beyond it. */
const escalated = (...codes: readonly DispatchFindingCode[]): Said => ({
  verdict: "REPORT_ESCALATED",
  action: "escalate",
  codes,
});

/**
 * Judges how the report of an epoch with terms is to be dealt with (U2–U5): by the total table of `dispatch`, from what the
 * log holds alone, and by what verifier and person have said since.
 */
export function judgeDispatch(state: DispatchState, terms: KeptTerms): Judgement {
  const said = decide(state, terms);
  const isPending = plannedOf(state).some((digest) => !state.answers.has(digest));
  const {
    verdict,
    action,
    codes = none,
  } = isPending && stricter(said.action, "approve") === "approve"
    ? ({ verdict: "APPROVAL_PENDING", action: "approve" } satisfies Said)
    : said;
  const findings = codes.map((code): Finding => ({ code, ...aboutOf(code, state, terms) }));
  return { verdict, action, final: true, findings };
}

/** Whether the result may be accepted: its verifier vouches for it, or a person does (U3). */
export function isAcceptable(state: DispatchState, terms: KeptTerms): boolean {
  return decide(state, terms).action === "proceed";
}

/** Re-dispatches that terms and persons allow. */
export function allowedRedispatches(state: DispatchState, terms: KeptTerms): number {
  return terms.redispatches + state.redispatches;
}

function plannedOf({ report }: DispatchState): readonly string[] {
  return report?.upward?.planned ?? none;
}

function aboutOf(code: DispatchFindingCode, state: DispatchState, terms: KeptTerms): Pick<Finding, "about"> {
  return code === "budget-spent" ? { about: `${state.used} of ${allowedRedispatches(state, terms)}` } : {};
}

function decide(state: DispatchState, terms: KeptTerms): Said {
  if (state.accepted) return { verdict: "REPORT_APPROVED", action: "proceed" };
  const upward = state.report?.upward;
  if (upward === undefined) return escalated("upward-report-missing");
  if (upward.claimDiffers) return escalated("claim-differs");
  const decision = decisionOf(state, terms, upward);
  switch (decision.action) {
    case "verify-accept-on-pass":
    case "verify-no-reprompt":
    case "verify-and-ablate":
      return verified(decision.action, state, terms);
    case "redispatch-with-blockers":
      return { verdict: "REDISPATCH_ALLOWED", action: "redispatch" };
    case "surface-blocker":
      return escalated("task-blocked");
    case "escalate":
      return escalated(...codesOf(decision));
  }
}

/** Stands for a verifier whose digest alone is in the log; that there is one is all that the table looks at. */
const someVerifier: Verifier = { kind: "command", argv: [""], timeLimitMs: 0 };

function decisionOf(
  state: DispatchState,
  terms: KeptTerms,
  upward: NonNullable<NonNullable<DispatchState["report"]>["upward"]>,
): DispatchDecision {
  // Prose is sealed, and no row looks at it: what stands in its place makes no difference.
  const report: UpwardReport = {
    status: upward.status,
    confidence: upward.isConfident ? 1 : 0,
    blockers: upward.hasBlockers ? [""] : [],
    "escalation-required": upward.isFlagged,
    "escalation-reason": null,
    "evidence-anchors": [],
    "planned-actions-pending-approval": [],
    notes: null,
  };
  return dispatch(
    { ok: true, report, ignored: [] },
    { newMechanism: terms.newMechanism ?? null, verifier: terms.verifier === undefined ? null : someVerifier },
    { retriesAllowed: allowedRedispatches(state, terms), retriesUsed: state.used },
  );
}

function verified(
  action: "verify-accept-on-pass" | "verify-no-reprompt" | "verify-and-ablate",
  { check, ablation }: DispatchState,
  terms: KeptTerms,
): Said {
  const unverified: Said = { verdict: "REPORT_UNVERIFIED", action: "verify" };
  if (check === undefined) return unverified;
  const outcomeOf = (outcome: typeof check): VerifierOutcome => ({ kind: "probe", outcome, evidence: "" });
  const end = acceptance(
    { action },
    { outcome: outcomeOf(check), ...(ablation === undefined ? {} : { ablation: outcomeOf(ablation) }) },
  );
  if (end.kind === "accept") return { verdict: "REPORT_VERIFIED", action: "proceed" };
  if (end.why === "verifier-failed") return escalated("verifier-failed");
  // It may still be run, if there is one.
  return end.why === "ablation-missing" && terms.ablation !== undefined ? unverified : escalated("mechanism-unproven");
}

function codesOf({ cause, rows }: EscalateDecision): readonly DispatchFindingCode[] {
  if (cause === "no-verifier") return ["verifier-missing"];
  const codes = rows.flatMap(({ finding }) => (finding === undefined ? [] : [finding]));
  return cause === "unknown-context" || codes.length === 0 ? ["decision-unclear", ...codes] : codes;
}
