import { z } from "zod";
import { hash32, id, label, milliseconds } from "../identifiers.js";
import { probeOutcomes, timerKinds } from "../vocabulary.js";

/** `independent_error_probe_receipt` (D4): what a prober looked at, how, and what it saw. */
export const probe = z
  .strictObject({
    target: z.discriminatedUnion("of", [
      z.strictObject({ of: z.literal("task") }),
      z.strictObject({ of: z.literal("effect"), key: id }),
    ]),
    method: label,
    outcome: z.enum(probeOutcomes),
    evidence: hash32.optional(),
  })
  .refine(
    ({ target, outcome }) =>
      outcome === "inconclusive" || (target.of === "effect") === ["committed", "absent"].includes(outcome),
    {
      error: "a task is confirmed or contradicted, an effect committed or absent",
      path: ["outcome"],
    },
  );

/** A deadline that has passed. Believed by its stored timestamp, whoever published it. */
export const timer = z.strictObject({ timer: z.enum(timerKinds), deadlineMs: milliseconds });
