import { z } from "zod";
import { certificateSchema } from "../certificate.js";
import { count, hash32, id, label, milliseconds, number, publicKey, sealed } from "../identifiers.js";
import { policySchema } from "../policy.js";
import { doubtPolicies, isolations, scopeDimensions, verifierKinds } from "../vocabulary.js";

/** Where the task stands once this intent holds, so that the last intent alone is enough after a reconnect. */
const standing = z.strictObject({
  epoch: number,
  state: z.enum(["delegated", "recalled", "terminated", "closed"]),
});

/** What every intent of a task carries. After `notAfterMs` (log time) it is refused as expired. */
const common = { standing, notAfterMs: milliseconds.optional() };

export const runOpen = z.strictObject({
  policy: policySchema,
  policyHash: hash32,
  fleet: certificateSchema,
  probers: z.array(certificateSchema).max(64),
  operator: publicKey,
  isolation: z.enum(isolations),
  title: sealed.optional(),
});

export const runClose = z.strictObject({ state: z.enum(["completed", "failed", "cancelled"]) });

/** Trust that begins at this event's log time. */
export const keyAdded = z.strictObject({ certificate: certificateSchema });
/** Trust that ends at this event's log time; what was stored before stays valid. */
export const keyRevoked = z.strictObject({ key: publicKey, reason: label });

/** One minted intent key: the name the brief uses for the effect, and the key that goes to the downstream. */
const mintedIntent = z.strictObject({
  intent: label,
  key: id,
  target: label.optional(),
  /** What is done where it is not known whether the effect happened; undeclared is to stop, and no verdict counts it. */
  inDoubt: z.enum(doubtPolicies).optional(),
  /**
   * Makes it a family: one effect for each value of this argument, decided at run time, each under a key of its own that
   * `memberKey` gives. The family's key itself is good for no effect.
   */
  discriminator: label.optional(),
  /** The planned action of the report before, which a person approved (U4). */
  planned: z.strictObject({ digest: hash32, text: sealed }).optional(),
});

/** What the orchestrator may do about the task's report, fixed before there is one: the guard holds it to this (U3). */
export const terms = z.strictObject({
  /** Re-dispatches of the task beyond its first delegation. */
  redispatches: count,
  /** The deterministic check of its work, by kind and digest; absent if there is none. */
  verifier: z.strictObject({ kind: z.enum(verifierKinds), digest: hash32 }).optional(),
  /** Digest of the check without the new mechanism. */
  ablation: hash32.optional(),
  /** Whether the work brings in a mechanism that is to be shown to make the difference; absent if that is not known. */
  newMechanism: z.boolean().optional(),
});

export const brief = z.strictObject({
  title: sealed.optional(),
  instructions: sealed.optional(),
  /** Parts of the work that the report must say a state of. */
  keyTasks: z.array(label).max(1000),
  /** A critical task gets no clean verdict without an independent probe. */
  critical: z.boolean(),
  /** The orchestrator can check success itself, so a bare success is acceptable. */
  directlyVerifiable: z.boolean(),
  retryBudget: count,
  /** False: the plan goes on without the result (plan context `optional`). Absent is needed. */
  resultNeeded: z.boolean().optional(),
  maxGraceMs: milliseconds.optional(),
  authority: z.array(label).max(100),
  /** Dimensions of observation that this task's verdict can't do without. */
  needs: z.array(z.enum(scopeDimensions)).max(scopeDimensions.length),
  /** What the result is about, in names of the orchestrator: results that share one must not contradict each other (T4). */
  examines: z.array(label).max(1000).optional(),
  terms: terms.optional(),
});
export type Brief = z.infer<typeof brief>;

export const delegate = z.strictObject({
  ...common,
  agent: z.strictObject({ actor: id, key: publicKey }),
  brief,
  intents: z.array(mintedIntent).max(1000),
  policyHash: hash32,
  predecessor: z.strictObject({ actor: id, epoch: number }).optional(),
  /** The fleet as which the agent may delegate parts of the task. */
  subFleet: certificateSchema.optional(),
  /** Whoever delegates is a sub-fleet: the task that it is a part of, who delegated that, and who opened the run. */
  parent: z.strictObject({ task: id, epoch: number, fleet: id, opener: id }).optional(),
});

export const recall = z.strictObject({ ...common, graceMs: milliseconds, reason: label });
export const terminate = z.strictObject({ ...common, reason: label, force: z.boolean() });
/** A person's leave. It is about one report where it answers planned actions or accepts a result. */
export const approve = z.strictObject({
  ...common,
  /** Who gave it: a name, not prose. */
  person: label,
  /** Hash of the report that the person saw. */
  report: hash32.optional(),
  /** Digests of planned actions that may run, and of those that may not. */
  approved: z.array(hash32).max(100),
  refused: z.array(hash32).max(100),
  /** The result may be used although no verifier vouches for it. */
  accept: z.boolean(),
  /** Re-dispatches beyond the terms. */
  redispatches: count,
  /** What the next delegation may allow in addition. */
  authority: z.array(label).max(100),
});
export const close = z.strictObject({ ...common, state: z.enum(["accepted", "rejected", "cancelled"]) });
