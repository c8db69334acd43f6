import {
  CandorError,
  decodeBody,
  decodeFrame,
  decodePayload,
  eventHash,
  isCandorError,
  kindTable,
  parseStoredSubject,
  quarantineCodes,
  requireSize,
  subjectKind,
  type AdmittedEvent,
  type EventBody,
  type LogEntry,
  type QuarantineCode,
  type RefusedMessage,
  type StoredAddress,
  type StoredMessage,
} from "@candor/contract";
import { readKnownHeader } from "./header.js";
import { scan } from "./scan.js";

/** Limits of a quarantine record's texts. */
const maxPath = 256;
const maxSentence = 1000;
/** Where the publisher stands in `candor.log.<lane>.<run>.<task>.<role>.<actor>.<kind>`. */
const actorToken = 6;

const codes: ReadonlySet<string> = new Set(quarantineCodes);

/** Subjects taken apart before: a task's events come under a few subjects, many times each. */
const addresses = new Map<string, StoredAddress>();
const maxAddresses = 8_192;

function addressOf(subject: string): StoredAddress | undefined {
  const known = addresses.get(subject);
  if (known !== undefined) return known;
  const address = parseStoredSubject(subject);
  if (addresses.size >= maxAddresses) addresses.clear();
  if (address !== undefined) addresses.set(subject, address);
  return address;
}

function isQuarantineCode(code: string): code is QuarantineCode {
  return codes.has(code);
}

/** The first part in which the subject says something else than the body, if any. */
function differingPart(address: StoredAddress | undefined, body: EventBody): string | undefined {
  if (address === undefined) return "subject";
  if (address.run !== body.run) return "run";
  if (address.task !== body.task) return "task";
  if (address.role !== body.role) return "role";
  if (address.actor !== body.actor) return "actor";
  return address.kind === subjectKind(body.role, body.kind) ? undefined : "kind";
}

/** Decodes a body and throws if its subject says something else. */
function decodeChecked(bytes: Uint8Array, address: StoredAddress | undefined): EventBody {
  const body = decodeBody(bytes);
  const path = differingPart(address, body);
  if (path === undefined) return body;
  throw new CandorError(
    "subject-mismatch",
    `The body is ${body.kind} of ${body.role} ${body.actor} for run ${body.run}, task ${body.task}; its subject says otherwise. Publish it on its own subject.`,
    { path },
  );
}

/** The strict scan of one part of the message, which its refusal then names. */
function scanPart(path: string, bytes: Uint8Array): void {
  try {
    scan(bytes);
  } catch (error) {
    throw isCandorError(error) ? new CandorError(error.code, `${path}: ${error.message}`, { path }) : error;
  }
}

function read(message: StoredMessage, address: StoredAddress | undefined): AdmittedEvent {
  const { seq, timeMs, subject, data } = message;
  requireSize(data.length);
  const { body, signature } = decodeFrame(data);
  scanPart("body", body);
  const event = (address === undefined ? undefined : readKnownHeader(body, address)) ?? decodeChecked(body, address);
  scanPart("payload", event.payload);
  const payload = decodePayload(event.kind, event.payload);
  return {
    type: "event",
    kind: event.kind,
    seq,
    timeMs,
    subject,
    actorToken: event.actor,
    event,
    payload,
    hash: eventHash(body),
    signature,
    data,
    // The kind chose the schema that the payload passed, which the compiler cannot follow.
  } as AdmittedEvent;
}

function refuse(message: StoredMessage, code: QuarantineCode, path: string, sentence: string): RefusedMessage {
  const { seq, timeMs, subject, data } = message;
  return {
    type: "refused",
    seq,
    timeMs,
    subject,
    actorToken: subject.split(".")[actorToken] ?? "",
    code,
    path: path.slice(0, maxPath),
    sentence: sentence.slice(0, maxSentence),
    data,
  };
}

/**
 * Turns a message of the log into an event, or into a refusal that says why not (B3, B4). It checks everything that can be seen
 * from the message alone: size, frame, the strict scan of body and payload, version, kind, payload schema, agreement of subject
 * and body, and presence of a signature where one is due. Whether the signature is right and trusted only the fold can say.
 *
 * @param message as the log holds it; its byte strings in the result are views
 * @returns an entry of type `event` or `refused`, the latter with quarantine code and field path; it never throws
 */
export function admit(message: StoredMessage): LogEntry {
  try {
    const entry = read(message, addressOf(message.subject));
    if (entry.signature !== undefined || !kindTable[entry.kind].signed) return entry;
    return refuse(message, "unsigned", "frame", `Every ${entry.kind} must carry a signature of its own.`);
  } catch (error) {
    if (isCandorError(error) && isQuarantineCode(error.code)) {
      return refuse(message, error.code, error.path ?? "frame", error.message);
    }
    // Whatever else goes wrong is a message that cannot be read: it must not stop the lane.
    return refuse(message, "malformed", "frame", "The message cannot be read.");
  }
}
