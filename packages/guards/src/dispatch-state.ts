import { equalBytes, type AdmittedOf, type ProbeOutcome, type ReportStatus } from "@candor/contract";
import { enoughConfidence } from "./enough-confidence.js";
import { hashText, type KeptTerms } from "./kept.js";

/** What a decision goes by in an upward report. */
interface KeptUpward {
  readonly status: ReportStatus;
  readonly isConfident: boolean;
  readonly isFlagged: boolean;
  readonly hasBlockers: boolean;
  /** Claim and status say different things. */
  readonly claimDiffers: boolean;
  /** Digests of the planned actions, as `hashText`. */
  readonly planned: readonly string[];
}

/** How the orchestrator deals with the report of one epoch, where the delegation states terms (U2–U5). */
export interface DispatchState {
  /** Re-dispatches of the task so far, this epoch included. */
  readonly used: number;
  /** The epoch's report, once it is in order; without an upward one if it has none. */
  report: { readonly hash: Uint8Array; readonly upward: KeptUpward | undefined } | undefined;
  /** Planned actions that a person answered: true for those that may run. */
  readonly answers: Map<string, boolean>;
  /** A person accepted the result. */
  accepted: boolean;
  /** What a person allowed beyond the terms. */
  redispatches: number;
  authority: readonly string[];
  /** What the verifier came to, and the same without the new mechanism. */
  check: ProbeOutcome | undefined;
  ablation: ProbeOutcome | undefined;
}

export function initialDispatch(used: number): DispatchState {
  return {
    used,
    report: undefined,
    answers: new Map(),
    accepted: false,
    redispatches: 0,
    authority: [],
    check: undefined,
    ablation: undefined,
  };
}

/** The first report of the epoch, in chain order; what comes after it is for the disclosure judge. */
export function foldReported(state: DispatchState, { hash, payload }: AdmittedOf<"report">): void {
  if (state.report !== undefined) return;
  const { upward, claim, selfReportedConfidence = 0 } = payload;
  const differs = upward?.status === "completed" ? claim === "fail" || claim === "none" : claim === "pass";
  state.report = {
    hash: Uint8Array.from(hash),
    upward: upward && {
      status: upward.status,
      isConfident: selfReportedConfidence >= enoughConfidence,
      isFlagged: upward.escalationRequired,
      hasBlockers: upward.blockers.length > 0,
      claimDiffers: differs,
      planned: upward.planned.map(({ digest }) => hashText(digest)),
    },
  };
}

/** The worse of two runs of a verifier stays: nobody tries again until it passes. */
const worstCheck: readonly ProbeOutcome[] = ["inconclusive", "confirmed", "contradicted"];
/** Without the new mechanism the check has to fail, so there a pass is the worse. */
const worstAblation: readonly ProbeOutcome[] = ["inconclusive", "contradicted", "confirmed"];

/**
 * A verifier's receipt, from an independent prober. It counts once there is a report, and if it is of the verifier that
 * the terms name.
 *
 * @param outcome as the prober's chain bears it out
 */
export function foldVerification(
  state: DispatchState,
  terms: KeptTerms,
  verifier: NonNullable<AdmittedOf<"probe">["payload"]["verifier"]>,
  outcome: ProbeOutcome,
): void {
  const { kind, role, digest } = verifier;
  const wanted = role === "check" ? terms.verifier?.digest : terms.ablation;
  if (state.report === undefined || kind !== terms.verifier?.kind || wanted !== hashText(digest)) return;
  const found = kind === "command" && outcome !== exitOutcome(verifier.exitCode) ? "inconclusive" : outcome;
  if (role === "check") state.check = worse(worstCheck, state.check, found);
  else state.ablation = worse(worstAblation, state.ablation, found);
}

function worse(order: readonly ProbeOutcome[], a: ProbeOutcome | undefined, b: ProbeOutcome): ProbeOutcome {
  return a !== undefined && order.indexOf(a) > order.indexOf(b) ? a : b;
}

/** What a command's end says of the work. @param exitCode undefined for one that did not end by itself */
export function exitOutcome(exitCode: number | undefined): ProbeOutcome {
  if (exitCode === undefined) return "inconclusive";
  return exitCode === 0 ? "confirmed" : "contradicted";
}

/** Whether an approval is about what there is: the epoch's report, and actions that it plans. */
export function isFounded(state: DispatchState, { payload }: AdmittedOf<"approve">): boolean {
  const { report, approved, refused, accept } = payload;
  const named = [...approved, ...refused].map(hashText);
  if (report === undefined) return named.length === 0 && !accept;
  if (state.report === undefined || !equalBytes(report, state.report.hash)) return false;
  const planned = new Set(state.report.upward?.planned);
  return named.every((digest) => planned.has(digest)) && new Set(named).size === named.length;
}

/** A person's leave that holds. */
export function foldApproval(state: DispatchState, { payload }: AdmittedOf<"approve">): void {
  for (const digest of payload.approved) state.answers.set(hashText(digest), true);
  for (const digest of payload.refused) state.answers.set(hashText(digest), false);
  if (payload.accept) state.accepted = true;
  state.redispatches += payload.redispatches;
  state.authority = [...new Set([...state.authority, ...payload.authority])];
}
