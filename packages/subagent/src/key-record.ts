import {
  certificateMessage,
  certificateSchema,
  concatBytes,
  decodeValue,
  domainPrefix,
  encodeCanonical,
  sha256,
  type Certificate,
} from "@candor/contract";
import { certifyTaskKey, isTaskKeyCertified, verifySignature, type Signer } from "@candor/ledger";

/** What is kept of an effect that is done, for whoever meets its key later. */
export interface DoneRecord {
  readonly dispatch: number;
  readonly identifiers: Readonly<Record<string, string>>;
  readonly arguments?: Uint8Array | undefined;
  /** What the effect returned, encrypted under the run's data key. */
  readonly result?: Uint8Array | undefined;
}

/** What came of an intent key: it is done, or certainly nothing happened under it in that epoch. */
export type KeyOutcome = ({ readonly type: "done" } & DoneRecord) | { readonly type: "void" };

/** Whose word it is. */
export interface KeyWriter {
  readonly run: string;
  readonly task: string;
  readonly epoch: number;
  readonly actor: string;
}

/** What an agent signs records with. */
export interface KeySigner {
  /** Signer of the ephemeral task key. */
  readonly taskKey: Signer;
  /** Signer of the deployment identity. */
  readonly deployment: Signer;
  /** The operator's word for the deployment identity. */
  readonly certificate: Certificate;
}

/** A record that was checked. */
export interface KeyRecord {
  readonly epoch: number;
  readonly actor: string;
  readonly outcome: KeyOutcome;
  /** As stored, to be handed on: it stays the word of whoever signed it. */
  readonly bytes: Uint8Array;
}

const version = 2;
/** Results beyond this stay in the spool only. */
const mostResultBytes = 64 * 1024;

type Fields = Readonly<Record<string, unknown>>;

const domain = domainPrefix("candor/v1/intent-key");

function message(body: Uint8Array): Uint8Array {
  return sha256(concatBytes(domain, body));
}

function fieldsOf(bytes: unknown): Fields {
  const value = bytes instanceof Uint8Array ? decodeValue(bytes) : undefined;
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

/** The deployment identity's word for the task key: one for all records of an epoch. */
export function bindTaskKey(writer: KeyWriter, { deployment, taskKey }: KeySigner): Uint8Array {
  const { run, task, epoch, actor } = writer;
  return certifyTaskKey(deployment, { run, task, epoch, actor, taskKey: taskKey.publicKey });
}

/**
 * Writes down what came of an intent key, signed with the task key and with all that shows whose key that is: the
 * deployment identity's word for it, and the operator's for that identity. So a reader needs no look-up.
 */
export function encodeKeyRecord(
  key: string,
  writer: KeyWriter,
  outcome: KeyOutcome,
  signer: KeySigner,
  binding = bindTaskKey(writer, signer),
): Uint8Array {
  const { taskKey, certificate } = signer;
  const kept = outcome.type === "done" && (outcome.result?.length ?? 0) > mostResultBytes;
  const { run, task, epoch, actor } = writer;
  const body = encodeCanonical({ run, task, epoch, actor, key, ...outcome, ...(kept ? { result: undefined } : {}) });
  return encodeCanonical({
    version,
    body,
    taskKey: taskKey.publicKey,
    binding,
    certificate,
    signature: taskKey.sign(message(body)),
  });
}

/**
 * Reads a record of what came of an intent key. Proven is who said it and of which epoch: the task key signed it, an agent
 * that the operator certified bound that key to this task, and it is about this key. Not proven is that the effect took
 * place, nor that the log holds it: an agent may not read another one's events, and one that lies in its own can lie
 * here. For that there are probes.
 *
 * @param expected operator's public key text, and what the record must be about
 * @returns undefined for anything else, garbage included
 */
export function readKeyRecord(
  bytes: Uint8Array,
  expected: { readonly operator: string; readonly run: string; readonly task: string; readonly key: string },
): KeyRecord | undefined {
  try {
    return checkedRecord(bytes, expected);
  } catch {
    return undefined;
  }
}

function checkedRecord(bytes: Uint8Array, expected: Parameters<typeof readKeyRecord>[1]): KeyRecord | undefined {
  const { version: found, body, taskKey, binding, certificate, signature } = fieldsOf(bytes);
  const signed = certificateSchema.safeParse(certificate);
  if (found !== version || !signed.success || typeof taskKey !== "string") return undefined;
  if (!(body instanceof Uint8Array && binding instanceof Uint8Array && signature instanceof Uint8Array))
    return undefined;
  const { run, task, epoch, actor, key, ...rest } = fieldsOf(body);
  if (run !== expected.run || task !== expected.task || key !== expected.key) return undefined;
  if (typeof epoch !== "number" || typeof actor !== "string") return undefined;
  const { role, name, key: deployment } = signed.data;
  const subject = { run: expected.run, task: expected.task, epoch, actor, taskKey };
  const isGood =
    role === "agent" &&
    name === actor &&
    verifySignature(expected.operator, certificateMessage(signed.data), signed.data.signature) &&
    isTaskKeyCertified(deployment, subject, binding) &&
    verifySignature(taskKey, message(body), signature);
  const outcome = isGood ? outcomeOf(rest) : undefined;
  return outcome && { epoch, actor, outcome, bytes: bytes.slice() };
}

function outcomeOf(fields: Fields): KeyOutcome | undefined {
  const { type, dispatch, identifiers, arguments: digest, result } = fields;
  if (type === "void") return { type };
  if (type !== "done" || typeof dispatch !== "number" || typeof identifiers !== "object" || identifiers === null)
    return undefined;
  return {
    type,
    dispatch,
    identifiers: Object.fromEntries(Object.entries(identifiers).map(([name, text]) => [name, String(text)])),
    arguments: digest instanceof Uint8Array ? digest.slice() : undefined,
    result: result instanceof Uint8Array ? result.slice() : undefined,
  };
}
