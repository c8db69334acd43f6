import { evaluateDisclosureReference, evaluateRecallReference, type ReferenceOutcome } from "@candor/guards/reference";
import type { Reader } from "./reader.js";

/** What the code under test said, under the names used in `expected`. */
export type Outcome = Readonly<Record<string, string>>;

/**
 * Reads one line of vectors and returns the evaluation of it, not yet run: a fault of the line and a refusal by the
 * code under test must not be taken for one another.
 */
export type Suite = (line: Reader) => () => Outcome;

/** One suite for each vector file, by the file's name without `.jsonl`. */
export const suites: ReadonlyMap<string, Suite> = new Map([
  ["disclosure", disclosure],
  ["recall", recall],
]);

function disclosure(line: Reader): () => Outcome {
  const [report, policy] = [line.child("report"), line.child("policy")];
  const input = {
    subagentId: report.text("subagent_id"),
    reportedSuccess: report.flag("reported_success"),
    errorsDisclosed: report.children("errors_disclosed").map((error) => ({
      errorId: error.text("error_id"),
      severity: error.text("severity"),
      recovered: error.flag("recovered"),
      isInternalRetry: error.flag("is_internal_retry"),
    })),
    errorLogIntegrityProof: report.textOrNull("error_log_integrity_proof"),
    independentProbeConfirms: report.flagOrNull("independent_probe_confirms"),
  };
  const rules = {
    requireStructuredLogProof: policy.flag("require_structured_log_proof"),
    requireProbeForCritical: policy.flag("require_probe_for_critical"),
  };
  return () => named(evaluateDisclosureReference(input, rules));
}

function recall(line: Reader): () => Outcome {
  const [state, policy] = [line.child("state"), line.child("policy")];
  const input = {
    subagentId: state.text("subagent_id"),
    recallIntentSequence: state.whole("recall_intent_sequence"),
    recallIntentEpoch: state.double("recall_intent_epoch"),
    inFlightActions: state.texts("in_flight_actions"),
    completionGraceRemainingSec: state.double("completion_grace_remaining_sec"),
    noSideEffectsReceipt: state.textOrNull("no_side_effects_receipt"),
    currentEpoch: state.double("current_epoch"),
  };
  const rules = { maxGraceSec: policy.double("max_grace_sec") };
  return () => named(evaluateRecallReference(input, rules));
}

function named(outcome: ReferenceOutcome<string>): Outcome {
  return { verdict: outcome.verdict, directive: outcome.directive, manifest_digest: outcome.manifestDigest };
}
