export {
  isActionableReference,
  type ReferenceSpawnEstimate,
  type ReferenceSubagentResult,
  shouldSpawnReference,
} from "./contract.js";
export {
  evaluateDisclosureReference,
  type ReferenceDisclosedError,
  type ReferenceDisclosurePolicy,
  type ReferenceDisclosureReport,
  type ReferenceDisclosureVerdict,
} from "./disclosure.js";
export type { ReferenceOutcome, ReferenceWord } from "./gates.js";
export {
  evaluateRecallReference,
  type ReferenceRecallPolicy,
  type ReferenceRecallState,
  type ReferenceRecallVerdict,
} from "./recall.js";
