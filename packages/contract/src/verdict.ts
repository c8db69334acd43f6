import { z } from "zod";
import { sha256 } from "#digest";
import { concatBytes, domainPrefix } from "./bytes.js";
import { certificateSchema, type Certificate } from "./certificate.js";
import { CandorError } from "./errors.js";
import { propagatedFailure } from "./failure-link.js";
import { count, hash32, id, label, milliseconds, number, signature64 } from "./identifiers.js";
import { decodeValue, encodeCanonical } from "./msgpack.js";
import { scope } from "./payloads/agent.js";
import { actions, findingCodes, isolations, judges, quarantineCodes, runTask, verdictNames } from "./vocabulary.js";

/** The fold's own version: a change of any decision is a new one. */
export const foldVersion = 1;

/** A verdict lists so much of its findings, and as much of the effects in flight; of the rest it tells the number. */
export const verdictLimits = { listed: 1000, listedBytes: 64 * 1024 } as const;

const finding = z.strictObject({
  code: z.enum(findingCodes),
  /** Log sequence of the event that shows it, where there is one. */
  seq: number.optional(),
  /** What it is about: an operation, a key, a key task, a number. */
  about: z.string().max(256).optional(),
});
export type Finding = z.infer<typeof finding>;

const party = z.strictObject({ task: id, epoch: number, actor: id });

/** Two results that say the opposite of the same thing (T4), and what to open to see who is right. */
const conflict = z.strictObject({
  pass: party,
  fail: party,
  /** What both say they examined; empty where they only share evidence. */
  on: z.array(label).max(8),
  /** Evidence of either, what both point to first. */
  evidence: z.array(z.strictObject({ task: id, actor: id, hash: hash32 })).max(16),
});
export type Conflict = z.infer<typeof conflict>;

/** A verdict as a function of the log. What depends on the signer stands outside. */
export const verdictBody = z.strictObject({
  run: id,
  task: z.union([id, z.literal(runTask)]),
  /** 0 for a verdict on an intent of a task that has no epoch yet. */
  epoch: count,
  actor: id.optional(),
  judge: z.enum(judges),
  verdict: z.enum(verdictNames),
  action: z.enum(actions),
  final: z.boolean(),
  /** 1, 2, … for verdicts of one judge on one epoch. */
  revision: number,
  /** 1, 2, … on the verdict's subject. */
  ordinal: number,
  findings: z.array(finding).max(verdictLimits.listed),
  /** For people; no code branches on it. */
  sentence: z.string().max(1000),
  /** First and last log sequence that it was judged from. */
  cause: z.strictObject({ first: number, last: number }),
  /** Log time of the cause. */
  at: milliseconds,
  fold: number,
  policy: hash32,
  scope: scope.optional(),
  isolation: z.enum(isolations),
  /** The control number and intent kind that a verdict of judge `intent` is about. */
  intent: z.strictObject({ control: number, kind: z.string().max(32), hash: hash32 }).optional(),
  /** Effects without a known outcome. */
  inFlight: z
    .array(z.strictObject({ key: id, intent: z.string(), target: z.string() }))
    .max(verdictLimits.listed)
    .optional(),
  /** The first conflicts between results of the run; all are among the findings. */
  conflicts: z.array(conflict).max(20).optional(),
  /** How many more findings and effects in flight there are than are listed; absent if all are. */
  omitted: z.strictObject({ findings: count, inFlight: count }).optional(),
  /** How the upstreams that it is about were used by the run's tasks in the window in which it was found. */
  upstreams: z
    .array(
      z.strictObject({
        upstream: z.string().max(128),
        /** Log time at which the window began. */
        fromMs: milliseconds,
        calls: count,
        firstTry: count,
        recovered: count,
        failed: count,
        tasks: count,
      }),
    )
    .max(64)
    .optional(),
  /** Log time at which the completion window ends. */
  deadlineMs: milliseconds.optional(),
  confidence: z.number().optional(),
  /** In a verdict on the disclosure of a task that failed: with what, as a typed result. */
  failure: propagatedFailure.optional(),
  /** Other judges that have a say on this epoch: there is no decision without them. */
  awaits: z.array(z.enum(judges)).max(judges.length).optional(),
  /** Hash of the report that a verdict of judge `dispatch` is about. */
  report: hash32.optional(),
  reference: z.strictObject({ verdict: z.enum(verdictNames), directive: z.string(), digest: z.string() }).optional(),
});
export type VerdictBody = z.infer<typeof verdictBody>;

/** Says where a message was refused and why (B3). `sha256` is of the bytes as stored. */
export const quarantineBody = z.strictObject({
  code: z.enum(quarantineCodes),
  seq: number,
  subject: z.string().max(1024),
  sha256: hash32,
  path: z.string().max(256).optional(),
  sentence: z.string().max(1000),
  at: milliseconds,
  fold: number,
});
export type QuarantineBody = z.infer<typeof quarantineBody>;

export interface Signed {
  readonly body: Uint8Array;
  readonly certificate: Certificate;
  readonly signature: Uint8Array;
}

const signedFrame = z.tuple([z.literal(1), z.instanceof(Uint8Array), certificateSchema, signature64]);
const prefixes = {
  verdict: domainPrefix("candor/v1/verdict"),
  quarantine: domainPrefix("candor/v1/quarantine"),
} as const;
export type GuardRecord = keyof typeof prefixes;

/** What a guard signs for a record it publishes: SHA-256 over domain and body. */
export function guardRecordMessage(kind: GuardRecord, body: Uint8Array): Uint8Array {
  return sha256(concatBytes(prefixes[kind], body));
}

export function encodeVerdictBody(body: VerdictBody): Uint8Array {
  return encodeCanonical(body);
}

export function encodeQuarantineBody(body: QuarantineBody): Uint8Array {
  return encodeCanonical(body);
}

/** A guard's record as stored: `[1, body, certificate, signature]`. */
export function encodeSigned(record: Signed): Uint8Array {
  return encodeCanonical([1, record.body, record.certificate, record.signature]);
}

/** @throws CandorError `malformed` if these bytes are no record of a guard. */
export function decodeSigned(bytes: Uint8Array): Signed {
  const frame = signedFrame.safeParse(decodeValue(bytes));
  if (!frame.success)
    throw new CandorError("malformed", "This is no guard's record: it must be [1, body, certificate, signature].");
  const [, body, certificate, signature] = frame.data;
  return { body, certificate, signature };
}

function parse<T>(schema: z.ZodType<T>, what: string, bytes: Uint8Array): T {
  const parsed = schema.safeParse(decodeValue(bytes));
  if (parsed.success) return parsed.data;
  const path = parsed.error.issues[0]?.path.map(String).join(".") ?? "";
  throw new CandorError(
    "malformed",
    `This ${what} does not fit its schema at ${path || "its root"}: a newer guard may have written it.`,
    { path },
  );
}

/** @throws CandorError `malformed`. */
export function decodeVerdictBody(bytes: Uint8Array): VerdictBody {
  return parse(verdictBody, "verdict", bytes);
}

/** @throws CandorError `malformed`. */
export function decodeQuarantineBody(bytes: Uint8Array): QuarantineBody {
  return parse(quarantineBody, "quarantine record", bytes);
}
