import { failureVocabulary, type PropagatedFailure } from "@candor/contract";
import { decideFailures } from "./failure-decision.js";
import type { EpochState, RunState } from "./state.js";

/**
 * An honest failure as a typed result for whoever delegated the task. Undefined where the task did not fail, its report does
 * not say with what, or the policy of the run is of before there were failures.
 */
export function typedFailure(epoch: EpochState, { policy }: RunState): PropagatedFailure | undefined {
  const { failure, brief, disclosure } = epoch;
  if (failure === undefined || policy.failures === undefined) return undefined;
  const open = disclosure.tally.errors().filter(({ recovered }) => !recovered);
  const decided = decideFailures(open, brief.resultNeeded, policy.failures);
  if (decided === undefined) return undefined;
  const { facts, link } = failure;
  const { severity } = decided;
  return { vocabulary: failureVocabulary, ...facts, severity, origin: link.origin, layers: [...link.layers] };
}
