import { z } from "zod";
import { sha256 } from "#digest";
import { concatBytes, domainPrefix } from "./bytes.js";
import { defaultFailurePolicy, failurePolicySchema, severities } from "./failure-policy.js";
import { count, milliseconds } from "./identifiers.js";
import { encodeCanonical } from "./msgpack.js";
import { errorTypes } from "./vocabulary.js";

/** When an upstream counts as degraded, and when nobody else bears out that it was at fault. */
const upstreamRules = z.strictObject({
  /** Log time over which the calls of a run's tasks are counted together. */
  windowMs: milliseconds.min(1).max(86_400_000),
  /** Calls in a window below which it says nothing. */
  minCalls: count.min(1),
  /** Share of calls that did not succeed at their first try from which an upstream counts as degraded. */
  troubledShare: z.number().gt(0).max(1),
  /** Calls without any trouble, by so many other tasks of the same window, against which blame on the upstream does not hold. */
  blame: z.strictObject({ calls: count.min(1), tasks: count.min(1) }),
});
export type UpstreamRules = z.infer<typeof upstreamRules>;

/** What a run is judged by. Pinned by hash in `run-open`, so that a replay uses the one then in force. */
export const policySchema = z.strictObject({
  version: z.literal(1),
  /** How long after a report the guard waits for events still under way. */
  settleMs: milliseconds.max(3_600_000),
  /** How long an agent has to acknowledge a recall. */
  acknowledgeMs: milliseconds.max(3_600_000),
  /** The longest completion window, whatever an intent asks for. */
  maxGraceMs: milliseconds.max(86_400_000),
  /** Events of one author that may wait for a missing predecessor. */
  reorderBuffer: count.min(1).max(65_536),
  /** Late events of one actor to one closed task that are still judged. */
  lateEventsPerActor: count.max(1_000_000),
  /** How long evidence is kept after its run is closed; `defaultEvidenceRetentionMs` where the policy does not say. */
  evidenceRetentionMs: milliseconds.max(3_153_600_000_000).optional(),
  /** Absent: upstreams are not judged. */
  upstreams: upstreamRules.optional(),
  /** What a failure of each type means for the plan, and what is done about it. Absent in runs opened before it was. */
  failures: failurePolicySchema.optional(),
  /** In place of `failures`, in runs opened before that was: a severity for each error type, and no action. */
  severity: z.record(z.enum(errorTypes), z.enum(severities)).optional(),
});
export type Policy = z.infer<typeof policySchema>;

/** Seven days, where a policy does not say. */
export const defaultEvidenceRetentionMs = 604_800_000;

export const defaultPolicy: Policy = {
  version: 1,
  settleMs: 2_000,
  acknowledgeMs: 5_000,
  maxGraceMs: 60_000,
  reorderBuffer: 1_024,
  lateEventsPerActor: 100,
  upstreams: { windowMs: 60_000, minCalls: 5, troubledShare: 0.3, blame: { calls: 3, tasks: 2 } },
  failures: defaultFailurePolicy,
};

/** SHA-256 over the canonical bytes of the policy document. */
export function policyHash(policy: Policy): Uint8Array {
  return sha256(concatBytes(domainPrefix("candor/v1/policy"), encodeCanonical(policy)));
}
