import { z } from "zod";
import { evidenceLimits, reportedEvidence } from "../evidence.js";
import {
  bytesUpTo,
  count,
  hash32,
  id,
  identifiers,
  label,
  milliseconds,
  number,
  publicKey,
  sealed,
  signature64,
} from "../identifiers.js";
import { committedEffect, failureStatement, hop, priorAttempt } from "../failure-link.js";
import { reportStatuses } from "../upward-report.js";
import {
  claims,
  coverageStates,
  effectPhases,
  errorTypes,
  eventKinds,
  finalities,
  finishReasons,
  modes,
  scopeDimensions,
  scopeLevels,
} from "../vocabulary.js";

/** For each dimension, whether the runtime enforces it, observes it, or cannot see it (D11). */
export const scope = z.strictObject({
  dimensions: z.record(z.enum(scopeDimensions), z.enum(scopeLevels)),
  adapter: label,
  framework: label.optional(),
});
export type Scope = z.infer<typeof scope>;

export const accept = z.strictObject({
  taskKey: publicKey,
  /** By the deployment identity, over `taskKeyMessage`. */
  certificate: signature64,
  /** Hash of the delegation that is accepted. */
  delegation: hash32,
  scope,
  mode: z.enum(modes),
});

export const error = z.strictObject({
  type: z.enum(errorTypes),
  finality: z.enum(finalities),
  /** Dealt with on the spot. A later successful retry recovers an error too, without rewriting it. */
  recovered: z.boolean(),
  operation: label,
  upstream: label.optional(),
  attempt: number,
  attempts: z.array(priorAttempt).max(1000),
  covers: label.optional(),
  effects: z.array(committedEffect).max(1000),
  /** What the other side asked to be waited before the next try. */
  retryAfterMs: milliseconds.optional(),
  /** It is the failure of a task that this one delegated, passed on. Then the event is signed itself. */
  hop: hop.optional(),
  description: sealed.optional(),
  unverifiedHint: sealed.optional(),
});

export const retryOutcomes = ["ok", "failed", "abandoned"] as const;

export const retry = z.strictObject({
  operation: label,
  upstream: label.optional(),
  /** 2 for the first repetition. */
  attempt: number.min(2),
  /** `seq` of the error that this try answers. */
  reason: number,
  delayMs: milliseconds,
  outcome: z.enum(retryOutcomes),
});

export const effect = z.strictObject({
  phase: z.enum(effectPhases),
  intent: label,
  key: id,
  target: label,
  /** Digest of the arguments, so that one key with two meanings is found. */
  arguments: hash32.optional(),
  identifiers: identifiers.optional(),
  /** `seq` of the `dispatched` event that an outcome belongs to; absent in that event itself. */
  dispatch: number.optional(),
  covers: label.optional(),
  /** Which member of a key family it is, by `memberDigest`. */
  member: hash32.optional(),
  /**
   * The last epoch, an earlier one, that left the key in doubt: the outcome is about all that was dispatched under it up to
   * there, and no dispatch of this epoch is.
   */
  epoch: number.optional(),
  /** The effect's code never read the key that was minted for it, so the downstream can't have got it. */
  keyUnread: z.literal(true).optional(),
});

export const inFlightAction = z.strictObject({ dispatch: number, intent: label, key: id, target: label });

export const acknowledge = z.strictObject({
  /** Control number of the recall or termination that is answered. */
  control: number,
  /** Effects dispatched and without outcome. Left out is not the same as empty. */
  manifest: z.array(inFlightAction).max(1000).optional(),
  /** The author's `seq` at which the manifest was taken. */
  takenAt: count,
});

export const noSideEffects = z.strictObject({ control: number, takenAt: count });

/** `structured_error_log_receipt` (D1): what the author says its own chain holds, up to the report. */
export const errorLogReceipt = z.strictObject({
  count,
  first: count,
  last: count,
  /** Hash of event `last`; zeros for an empty log. */
  head: hash32,
  byKind: z.partialRecord(z.enum(eventKinds), number),
  byType: z.partialRecord(z.enum(errorTypes), number),
  errors: z.array(
    z.strictObject({ seq: number, type: z.enum(errorTypes), finality: z.enum(finalities), recovered: z.boolean() }),
  ),
});
export type ErrorLogReceipt = z.infer<typeof errorLogReceipt>;

/** `internal_retry_manifest` (D2). `unseen` names layers whose retries the runtime can't see: not the same as none. */
export const retryManifest = z.strictObject({
  entries: z.array(
    z.strictObject({
      seq: number,
      operation: label,
      upstream: label.optional(),
      attempt: number,
      reason: number,
      delayMs: milliseconds,
      outcome: z.enum(retryOutcomes),
    }),
  ),
  unseen: z.array(z.enum(scopeDimensions)),
  /**
   * The most requests that one call came to, with the layers that repeated it, outermost first: three tries of four are twelve.
   * Absent where no call came to more than one.
   */
  amplification: z
    .strictObject({
      requests: number.min(2),
      layers: z
        .array(z.strictObject({ operation: label, tries: number }))
        .min(1)
        .max(16),
    })
    .optional(),
});
export type RetryManifest = z.infer<typeof retryManifest>;

/** `task_completion_confidence_receipt` (D3): the score of `completionConfidence` and what went into it. */
export const confidenceReceipt = z.strictObject({
  formula: z.literal(1),
  score: z.number().min(0).max(1),
  caveats: count,
});
export type ConfidenceReceipt = z.infer<typeof confidenceReceipt>;

export const coverage = z.array(z.strictObject({ task: label, state: z.enum(coverageStates) })).max(1000);
export type Coverage = z.infer<typeof coverage>;

/** Effects that the report owns up to, one entry a dispatch. */
const declaredEffect = z.strictObject({ dispatch: number, key: id, phase: z.enum(effectPhases) });

export const receipts = z.strictObject({
  errorLog: errorLogReceipt,
  retries: retryManifest,
  /** The report's effects, where those are too many for it; the report then lists none. */
  effects: z.array(declaredEffect).max(10_000).optional(),
});
export type Receipts = z.infer<typeof receipts>;

/** Receipts of a million errors and retries fit in; a guard holds the parts until the report comes. */
const mostParts = 256;

/** Sums over a million tasks stay exact. */
const mostCalls = 1_000_000_000;

/** What code counted at one upstream. Calls that had trouble are in the log, event by event. */
const upstreamUse = z.strictObject({
  upstream: label,
  calls: number.max(mostCalls),
  /** Calls that succeeded at their first try. */
  firstTry: count.max(mostCalls),
  /** Tries of all calls. */
  tries: number.max(mostCalls),
});

/** A slice of the msgpack bytes of `receipts`, when they are too many for the report itself. */
export const receipt = z.strictObject({
  part: number.max(mostParts),
  parts: number.max(mostParts),
  content: bytesUpTo(220 * 1024),
});

/** One planned action: what a person reads, and the digest by which an approval names it (U4). */
const plannedAction = z.strictObject({ digest: hash32, text: sealed });

/** Items of a list of an upward report. */
export const mostReportItems = 100;

/**
 * An upward report (U1), its prose sealed. What a decision goes by is in the open: status, whether a person is asked for,
 * how many blockers there are. Its confidence is the report's `selfReportedConfidence`.
 */
export const upward = z.strictObject({
  status: z.enum(reportStatuses),
  escalationRequired: z.boolean(),
  escalationReason: sealed.optional(),
  blockers: z.array(sealed).max(mostReportItems),
  anchors: z.array(sealed).max(mostReportItems),
  planned: z.array(plannedAction).max(mostReportItems),
  notes: sealed.optional(),
});
export type Upward = z.infer<typeof upward>;

export const report = z.strictObject({
  claim: z.enum(claims),
  finishReason: z.enum(finishReasons),
  coverage,
  effects: z.array(declaredEffect).max(10_000),
  /** Absent when they went ahead in `receipt` events. */
  receipts: receipts.optional(),
  receiptParts: count,
  confidence: confidenceReceipt,
  /** Calls that the runtime counted (attempts and effects), and how many of them succeeded. */
  work: z.strictObject({ calls: count, succeeded: count }),
  /** Upstreams that were called, those with the most calls where there are too many. */
  upstreams: z.array(upstreamUse).max(64).optional(),
  /** The model's own number. Kept apart: no verdict uses it. */
  selfReportedConfidence: z.number().min(0).max(1).optional(),
  /** The failure that ended the task, where its claim is that it failed. */
  failure: failureStatement.optional(),
  summary: sealed.optional(),
  caveats: z.array(sealed).max(1000),
  /** Bytes that went through the agent, as it counted them, and bytes that it hands back (T5); absent if it counted none. */
  sizes: z.strictObject({ work: number, result: count }).optional(),
  /** What the agent stored to bear its claim out; absent if it stored nothing. */
  evidence: z.array(reportedEvidence).max(evidenceLimits.maxHandles).optional(),
  upward: upward.optional(),
});
export type Report = z.infer<typeof report>;
