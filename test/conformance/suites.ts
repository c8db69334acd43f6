import { CandorError } from "@candor/contract";
import {
  evaluateDisclosureReference,
  evaluateRecallReference,
  isActionableReference,
  type ReferenceOutcome,
  shouldSpawnReference,
} from "@candor/guards/reference";
import { compare } from "./comparison.js";
import type { Reader } from "./reader.js";
import type { Outcome, Suite } from "./suite.js";
import { upwardReports } from "./upward-suite.js";

/** One suite for each vector file, by the file's name without `.jsonl`. */
export const suites: ReadonlyMap<string, Suite> = new Map([
  ["contract", exact(contract)],
  ["disclosure", exact(disclosure)],
  ["recall", exact(recall)],
  ["upward_reports", upwardReports],
]);

/** A suite whose every line expects one outcome. */
function exact(evaluation: (line: Reader) => () => Outcome): Suite {
  return (line) => {
    const { fields } = line.child("expected");
    const evaluate = evaluation(line);
    return () => ({ what: compare(fields, evaluate) });
  };
}

function contract(line: Reader): () => Outcome {
  const [kind, input] = [line.text("kind"), line.child("input")];
  const evaluation = contractKinds.get(kind);
  if (evaluation !== undefined) return evaluation(input);
  throw new CandorError("malformed", `kind must be ${[...contractKinds.keys()].join(" or ")}, but is ${kind}`);
}

const contractKinds: ReadonlyMap<string, (input: Reader) => () => Outcome> = new Map([
  ["is_actionable", actionable],
  ["should_spawn", spawn],
]);

function actionable(input: Reader): () => Outcome {
  const result = {
    verdict: input.text("verdict"),
    verdictIsMember: input.text("verdict_type") === "enum",
    confidence: confidenceOf(input),
  };
  return () => ({ actionable: isActionableReference(result) });
}

function confidenceOf(input: Reader): unknown {
  const type = input.text("confidence_type");
  if (type === "default") return 0;
  return type === "float" || type === "int" ? input.double("confidence") : input.fields["confidence"];
}

function spawn(input: Reader): () => Outcome {
  const estimate = {
    estimatedToolCalls: input.double("estimated_tool_calls"),
    expectedOutputTokens: input.double("expected_output_tokens"),
    estimatedIntermediateTokens: input.double("estimated_intermediate_tokens"),
  };
  return () => ({ spawn: shouldSpawnReference(estimate) });
}

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
