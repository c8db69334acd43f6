import { hex, type Action, type Policy, type VerdictBody } from "@candor/contract";
import { probeAnswer, type KeptReport } from "./disclosure.js";
import { evaluateDisclosureReference, evaluateRecallReference } from "./reference/index.js";
import type { EpochState } from "./state.js";

type Reference = VerdictBody["reference"];

/** What the reference says of the same facts (D10): the last section of the wire tables gives the mapping. */
export function disclosureReference(epoch: EpochState, report: KeptReport, policy: Policy): Reference {
  const { disclosure, chain } = epoch;
  const retried = disclosure.tally.retriedErrors();
  const sound = disclosure.odd.faults.length === 0 && chain.gap === undefined && !disclosure.odd.overflowed;
  const outcome = evaluateDisclosureReference(
    {
      subagentId: epoch.actor,
      reportedSuccess: report.claim === "pass",
      errorsDisclosed: disclosure.tally.errors().map(({ seq, type, recovered }) => ({
        errorId: String(seq),
        severity: policy.severity[type],
        recovered,
        isInternalRetry: retried.has(seq),
      })),
      errorLogIntegrityProof: sound ? (disclosure.proof ?? null) : null,
      independentProbeConfirms: probeAnswer(disclosure) ?? null,
    },
    { requireStructuredLogProof: true, requireProbeForCritical: epoch.brief.critical },
  );
  return { verdict: outcome.verdict, directive: outcome.directive, digest: outcome.manifestDigest };
}

/** What the reference says of a recall at log time `nowMs` (R10); undefined for anything that is no recall. */
export function recallReference(epoch: EpochState, policy: Policy, nowMs: number): Reference {
  const { order, noSideEffects } = epoch.recall;
  if (order?.kind !== "recall") return undefined;
  const outcome = evaluateRecallReference(
    {
      subagentId: epoch.actor,
      recallIntentSequence: BigInt(order.control),
      recallIntentEpoch: order.orderedAtMs / 1000,
      inFlightActions: epoch.effects.inFlight.map(({ key }) => key),
      completionGraceRemainingSec: Math.max(0, order.graceEndsMs - nowMs) / 1000,
      noSideEffectsReceipt: noSideEffects === undefined ? null : hex(noSideEffects.hash),
      currentEpoch: nowMs / 1000,
    },
    { maxGraceSec: policy.maxGraceMs / 1000 },
  );
  return { verdict: outcome.verdict, directive: outcome.directive, digest: outcome.manifestDigest };
}

/** Strict is never milder than the reference: where that says halt or wait, "proceed" becomes "escalate". */
export function notMilder(action: Action, reference: Reference): Action {
  const lenient = reference === undefined || reference.directive.startsWith("PROCEED");
  return action === "proceed" && !lenient ? "escalate" : action;
}
