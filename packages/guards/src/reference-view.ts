import {
  hex,
  type Action,
  type ErrorType,
  type Finality,
  type Policy,
  type Severity,
  type VerdictBody,
  type VerdictName,
} from "@candor/contract";
import { probeAnswer, type KeptReport } from "./disclosure-state.js";
import {
  evaluateDisclosureReference,
  evaluateRecallReference,
  type ReferenceOutcome,
  type ReferenceWord,
} from "./reference/index.js";
import { decideFailure } from "./failure-decision.js";
import type { EpochState } from "./state.js";

/** What the reference says, as a verdict states it, and what comes of it. */
export interface Reference {
  readonly stated: NonNullable<VerdictBody["reference"]>;
  readonly outcome: ReferenceWord;
}

function referenceOf({ verdict, directive, manifestDigest, outcome }: ReferenceOutcome<VerdictName>): Reference {
  return { stated: { verdict, directive, digest: manifestDigest }, outcome };
}

const evaluated = new WeakMap<KeptReport, Map<string, Reference>>();
/** From so many errors on, what the reference says is kept: the events after a report are judged one by one. */
const mostEvaluated = 64;

/** What the reference says of the same facts (D10): the last section of the wire tables gives the mapping. */
export function disclosureReference(epoch: EpochState, report: KeptReport, policy: Policy): Reference {
  const { disclosure, chain } = epoch;
  const sound = disclosure.odd.faults.length === 0 && chain.gap === undefined && !disclosure.odd.overflowed;
  const proof = sound ? (disclosure.proof ?? null) : null;
  const probe = probeAnswer(disclosure) ?? null;
  const isKept = report === disclosure.report && disclosure.tally.errorCount >= mostEvaluated;
  if (!isKept) return evaluateDisclosure(epoch, report, policy, { proof, probe });
  const known = evaluated.get(report) ?? new Map<string, Reference>();
  evaluated.set(report, known);
  const facts = `${proof ?? ""}/${String(probe)}`;
  const found = known.get(facts) ?? evaluateDisclosure(epoch, report, policy, { proof, probe });
  known.set(facts, found);
  return found;
}

function evaluateDisclosure(
  { actor, brief, disclosure }: EpochState,
  report: KeptReport,
  policy: Policy,
  { proof, probe }: { proof: string | null; probe: boolean | null },
): Reference {
  const retried = disclosure.tally.retriedErrors();
  const outcome = evaluateDisclosureReference(
    {
      subagentId: actor,
      reportedSuccess: report.claim === "pass",
      errorsDisclosed: disclosure.tally.errors().map(({ seq, type, finality, recovered }) => ({
        errorId: String(seq),
        severity: severityOf(policy, type, finality, brief.resultNeeded),
        recovered,
        isInternalRetry: retried.has(seq),
      })),
      errorLogIntegrityProof: proof,
      independentProbeConfirms: probe,
    },
    { requireStructuredLogProof: true, requireProbeForCritical: brief.critical },
  );
  return referenceOf(outcome);
}

function severityOf({ failures, severity }: Policy, type: ErrorType, finality: Finality, needed: boolean): Severity {
  if (failures !== undefined) return decideFailure({ type, finality }, needed, failures).severity;
  return severity?.[type] ?? "critical";
}

/** What the reference says of a recall at log time `nowMs` (R10); undefined for anything that is no recall. */
export function recallReference(epoch: EpochState, policy: Policy, nowMs: number): Reference | undefined {
  const { order, noSideEffects } = epoch.recall;
  if (order?.kind !== "recall") return undefined;
  const outcome = evaluateRecallReference(
    {
      subagentId: epoch.actor,
      recallIntentSequence: BigInt(order.control),
      recallIntentEpoch: order.orderedAtMs / 1000,
      // The reference counts them and looks at nothing inside, and there may be very many.
      inFlightActions: new Array<string>(epoch.effects.inFlight.total).fill(""),
      completionGraceRemainingSec: Math.max(0, order.graceEndsMs - nowMs) / 1000,
      noSideEffectsReceipt: noSideEffects === undefined ? null : hex(noSideEffects.hash),
      currentEpoch: nowMs / 1000,
    },
    { maxGraceSec: policy.maxGraceMs / 1000 },
  );
  return referenceOf(outcome);
}

/** Strict is never milder than the reference: where that says halt or wait, "proceed" becomes "escalate". */
export function notMilder(action: Action, reference: Reference | undefined): Action {
  const lenient = reference === undefined || reference.outcome === "proceed";
  return action === "proceed" && !lenient ? "escalate" : action;
}
