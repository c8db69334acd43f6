import { z } from "zod";
import { evidenceLimits } from "./evidence.js";
import { failureVocabulary, severities } from "./failure-policy.js";
import { count, hash32, id, identifiers, label, milliseconds, number } from "./identifiers.js";
import { errorTypes, finalities } from "./vocabulary.js";

/** A failure passes so many layers at most; a delegation deeper than that is rejected. */
export const mostLayers = 8;

/** What of a failure is stated: the emitter says type and finality, never a severity (F5). */
const stated = z.strictObject({ type: z.enum(errorTypes), finality: z.enum(finalities) });
export type Stated = z.infer<typeof stated>;

/** What a layer did with a child's failure. */
export const hopDeeds = ["passed", "translated", "downgraded", "recovered"] as const;
export type HopDeed = (typeof hopDeeds)[number];

/** What a layer adds to an error of its own that is the failure of a task it delegated (F8). The error is signed itself. */
export const hop = z.strictObject({
  /** The child, and its epoch. */
  task: id,
  epoch: number,
  /** Hash of the event in which the child stated the failure: its error, or its own hop. */
  previous: hash32,
  /** Hash of the error that it all began with. */
  origin: hash32,
  saw: stated,
  did: z.enum(hopDeeds),
});
export type Hop = z.infer<typeof hop>;

/** An earlier try of the same call. `reason` is the `seq` of the error that ended it. */
export const priorAttempt = z.strictObject({ attempt: number, reason: number, delayMs: milliseconds });
/** An effect that happened, with what both sides know it by. */
export const committedEffect = z.strictObject({ intent: label, key: id, identifiers });

/** A piece of evidence, without its label: a propagated failure holds no prose (F4). */
const foundEvidence = z.strictObject({ actor: id, hash: hash32, size: count.max(evidenceLimits.maxBytes) });

/** So much of a failure stands in the report; the error event that it names has the rest. */
export const failureLimits = { attempts: 20, effects: 100, effectBytes: 8 * 1024, evidence: 16 } as const;

/** The failure that a report owns up to: the error event that tells it, and what the receiver needs to act (F2, F3, F6). */
export const failureStatement = z.strictObject({
  /** Number and hash of the error event, in the chain of the report. */
  error: number,
  hash: hash32,
  ...stated.shape,
  operation: label,
  upstream: label.optional(),
  attempt: number,
  /** The last tries before. */
  attempts: z.array(priorAttempt).max(failureLimits.attempts),
  /** Committed effects, the last ones, and how many more there are. */
  effects: z.array(committedEffect).max(failureLimits.effects),
  effectsOmitted: count,
  retryAfterMs: milliseconds.optional(),
});
export type FailureStatement = z.infer<typeof failureStatement>;

/** One layer that a failure passed, as the guard found it in the log. */
const layer = z.strictObject({
  task: id,
  epoch: number,
  actor: id,
  saw: stated,
  did: z.enum(hopDeeds),
  says: stated,
  /** The run's policy is milder about what it says than about what it saw, whatever it calls that. */
  downgraded: z.boolean(),
  /** The author's clock. */
  at: milliseconds,
  hash: hash32,
});
export type FailureLayer = z.infer<typeof layer>;

/** A failure as a guard hands it to whoever delegated the task: typed, with its way up. No prose, and no hint (F4). */
export const propagatedFailure = z.strictObject({
  /** A receiver that knows another one refuses it (F11). */
  vocabulary: z.literal(failureVocabulary),
  task: id,
  epoch: number,
  actor: id,
  /** The event that states it, in this task. */
  hash: hash32,
  ...stated.shape,
  severity: z.enum(severities),
  operation: label,
  upstream: label.optional(),
  attempt: number,
  attempts: z.array(priorAttempt.extend({ type: z.enum(errorTypes) })).max(failureLimits.attempts),
  effects: z.array(committedEffect).max(failureLimits.effects),
  effectsOmitted: count,
  /** What the task had found by then: the evidence that its report points to, and how much more of it the report has. */
  evidence: z.array(foundEvidence).min(1).max(failureLimits.evidence).optional(),
  evidenceOmitted: number.optional(),
  retryAfterMs: milliseconds.optional(),
  /** Where it began. */
  origin: z.strictObject({ task: id, epoch: number, actor: id, hash: hash32, ...stated.shape }),
  /** From the origin's parent up to this task. */
  layers: z.array(layer).max(mostLayers),
});
export type PropagatedFailure = z.infer<typeof propagatedFailure>;
