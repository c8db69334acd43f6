import { z } from "zod";
import { evidenceLimits } from "../evidence.js";
import { count, hash32, id, label, milliseconds, sealed } from "../identifiers.js";
import { probeOutcomes, timerKinds } from "../vocabulary.js";

/** `independent_error_probe_receipt` (D4): what a prober looked at, how, and what it saw. */
export const probe = z.strictObject({
  target: z.strictObject({ of: z.literal("task") }),
  method: label,
  outcome: z.enum(probeOutcomes),
  evidence: hash32.optional(),
});

/** A deadline that has passed. Believed by its stored timestamp, whoever published it. */
export const timer = z.strictObject({
  timer: z.enum(timerKinds),
  deadlineMs: milliseconds,
  /** For a timer of kind `evidence`: what the guard found of each piece of evidence that was pointed to (T2). */
  evidence: z
    .array(z.strictObject({ actor: id, hash: hash32, stored: z.boolean() }))
    .max(2 * evidenceLimits.maxHandles)
    .optional(),
});

/** What a guard removed of a run's evidence, after its retention (T3). Hash, size and label stay here for good. */
export const collected = z.strictObject({
  /** Log time of the run's closing. */
  closedAtMs: milliseconds,
  /** Left out of a piece whose manifest could not be read: size and label. */
  items: z
    .array(z.strictObject({ actor: id, hash: hash32, size: count.optional(), label: sealed.optional() }))
    .max(1000),
});
