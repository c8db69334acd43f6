import { policyFaultTable, type PolicyFaultCode } from "@candor/contract";
import type { Explanation } from "./explanation.js";

function explanationOf(code: PolicyFaultCode): Explanation {
  const { must, todo } = policyFaultTable[code];
  return { means: `The policy is refused: ${must}.`, todo };
}

/** What can be wrong with a policy, from the one table of it. */
export const policyExplanations = Object.fromEntries(
  (Object.keys(policyFaultTable) as PolicyFaultCode[]).map((code) => [code, explanationOf(code)]),
) as Readonly<Record<PolicyFaultCode, Explanation>>;
