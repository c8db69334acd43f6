import { z } from "zod";
import { evidenceLimits } from "../evidence.js";
import { count, hash32, id, label, milliseconds, sealed } from "../identifiers.js";
import { probeOutcomes, timerKinds, verifierKinds } from "../vocabulary.js";

/** What a verifier of a report came to (U5), with its output, cut to what a receipt has room for and sealed. */
const verification = z.strictObject({
  kind: z.enum(verifierKinds),
  /** Digest of the verifier, as the terms of the delegation name it. */
  digest: hash32,
  /** The check of the work, or the same without the new mechanism. */
  role: z.enum(["check", "ablation"]),
  /** Of a command that ended by itself; absent if its time limit or a signal ended it. */
  exitCode: z.int().optional(),
  /** The end of what it printed; more of it is the evidence that the receipt points to. */
  output: sealed.optional(),
  /** Bytes that it printed in all. */
  outputBytes: count,
});

/** `independent_error_probe_receipt` (D4): what a prober looked at, how, and what it saw. */
export const probe = z.strictObject({
  target: z.strictObject({ of: z.literal("task") }),
  method: label,
  outcome: z.enum(probeOutcomes),
  evidence: hash32.optional(),
  verifier: verification.optional(),
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
