import type { z } from "zod";
import { CandorError, type ErrorCode } from "../errors.js";
import { decodeValue, encodeCanonical } from "../msgpack.js";
import type { EventKind } from "../vocabulary.js";
import { accept, acknowledge, effect, error, noSideEffects, receipt, report, retry } from "./agent.js";
import { approve, close, delegate, keyAdded, keyRevoked, recall, runClose, runOpen, terminate } from "./intents.js";
import { collected, probe, timer } from "./probe.js";
import { quickChecks } from "./quick-check.js";

/** The schema of each kind's payload. Total: a kind without one does not compile. */
export const payloadSchemas = {
  "run-open": runOpen,
  "run-close": runClose,
  "key-added": keyAdded,
  "key-revoked": keyRevoked,
  delegate,
  recall,
  terminate,
  approve,
  close,
  accept,
  error,
  retry,
  effect,
  acknowledge,
  "no-side-effects": noSideEffects,
  receipt,
  report,
  probe,
  timer,
  collected,
} as const satisfies Record<EventKind, z.ZodType>;

const quick = quickChecks(payloadSchemas);

export type Payload<K extends EventKind> = z.infer<(typeof payloadSchemas)[K]>;

/** Enumerations whose unknown members get a code of their own, so that a newer peer is recognised as such. */
const typeFields: ReadonlySet<PropertyKey> = new Set(["type", "finality", "phase", "claim", "outcome", "finishReason"]);

/** Writes an issue's path like `payload.attempts[2].reason`. */
function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, part) => (typeof part === "number" ? `${text}[${part}]` : `${text}.${String(part)}`),
    "payload",
  );
}

function refusal(kind: EventKind, error: z.ZodError): CandorError {
  const issue = error.issues[0];
  const path = pathText(issue?.path ?? []);
  const unknownMember = issue?.code === "invalid_value" && typeFields.has(issue.path.at(-1) ?? "");
  const code: ErrorCode = unknownMember ? "unknown-type" : "malformed";
  return new CandorError(code, `${kind}: ${path}: ${issue?.message ?? "does not fit the schema"}`, { path });
}

/**
 * Checks a payload and encodes it as canonical msgpack.
 * @throws CandorError `malformed` or `unknown-type`, with the path of the first field that does not fit.
 */
export function encodePayload<K extends EventKind>(kind: K, payload: Payload<K>): Uint8Array {
  if (quick.get(kind)?.(payload) !== true) {
    const checked = payloadSchemas[kind].safeParse(payload);
    if (!checked.success) throw refusal(kind, checked.error);
  }
  return encodeCanonical(payload);
}

/**
 * Decodes and checks the payload of an event of the given kind. Byte strings are views into `bytes`.
 * @throws CandorError `malformed` or `unknown-type`, with the path of the first field that does not fit.
 */
export function decodePayload<K extends EventKind>(kind: K, bytes: Uint8Array): Payload<K> {
  const value = decodeValue(bytes);
  if (quick.get(kind)?.(value) === true) return value as Payload<K>;
  const checked = payloadSchemas[kind].safeParse(value);
  if (!checked.success) throw refusal(kind, checked.error);
  return checked.data as Payload<K>;
}
