import { z } from "zod";
import { hash32, label, milliseconds } from "../identifiers.js";
import { probeOutcomes, timerKinds } from "../vocabulary.js";

/** `independent_error_probe_receipt` (D4): what a prober looked at, how, and what it saw. */
export const probe = z.strictObject({
  target: z.strictObject({ of: z.literal("task") }),
  method: label,
  outcome: z.enum(probeOutcomes),
  evidence: hash32.optional(),
});

/** A deadline that has passed. Believed by its stored timestamp, whoever published it. */
export const timer = z.strictObject({ timer: z.enum(timerKinds), deadlineMs: milliseconds });
