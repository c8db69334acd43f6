import { sha256 } from "#digest";
import { concatBytes, domainPrefix } from "./bytes.js";
import { CandorError } from "./errors.js";
import { isId, isTaskId } from "./identifiers.js";
import { decodeValue, encodeCanonical } from "./msgpack.js";
import { eventKinds, kindTable, limits, roles, runTask, wireVersion, type EventKind, type Role } from "./vocabulary.js";

export interface EventHeader {
  readonly kind: EventKind;
  readonly run: string;
  readonly task: string;
  /** Counts the delegations of the task from 1; the fencing token. */
  readonly epoch: number;
  readonly role: Role;
  readonly actor: string;
  /** From 1 per (task, epoch, author); for orchestrators the control number over all epochs. */
  readonly seq: number;
  /** Hash of the author's previous event; 32 zero bytes at `seq` 1. */
  readonly prev: Uint8Array;
  /** The author's clock in ms. Shown to people; no verdict depends on it. */
  readonly at: number;
}

export interface EventBody extends EventHeader {
  /** A msgpack map, undecoded. */
  readonly payload: Uint8Array;
}

export interface Frame {
  readonly body: Uint8Array;
  readonly signature: Uint8Array | undefined;
}

export const zeroHash: Uint8Array = new Uint8Array(32);
const signedFlag = 0x01;
const signatureLength = 64;
const hashPrefix = domainPrefix("candor/v1/event");
// One buffer for all hashes: hashing is synchronous, and a new array for each costs five times the hash.
let hashInput = concatBytes(hashPrefix, new Uint8Array(4096));
const kindSet: ReadonlySet<string> = new Set(eventKinds);
const roleSet: ReadonlySet<string> = new Set(roles);

/** The body: a msgpack array `[version, kind, run, task, epoch, role, actor, seq, prev, at, payload]`. */
export function encodeBody(event: EventBody): Uint8Array {
  const { kind, run, task, epoch, role, actor, seq, prev, at, payload } = event;
  return encodeCanonical([wireVersion, kind, run, task, epoch, role, actor, seq, prev, at, payload]);
}

/** SHA-256(`candor/v1/event` ‖ 0x00 ‖ body): what the next event's `prev` names and what a signature covers. */
export function eventHash(body: Uint8Array): Uint8Array {
  const end = hashPrefix.length + body.length;
  if (end > hashInput.length) {
    hashInput = new Uint8Array(end * 2);
    hashInput.set(hashPrefix);
  }
  hashInput.set(body, hashPrefix.length);
  return sha256(hashInput.subarray(0, end));
}

/** Flag byte (bit 0: signed), body, and the 64-byte signature if flagged. */
export function encodeFrame(body: Uint8Array, signature?: Uint8Array): Uint8Array {
  if (signature === undefined) return concatBytes(Uint8Array.of(0), body);
  return concatBytes(Uint8Array.of(signedFlag), body, signature);
}

/**
 * Splits a frame. The parts are views into `bytes`.
 * @throws CandorError `malformed` for an unknown flag or a frame too short to hold what its flag promises.
 */
export function decodeFrame(bytes: Uint8Array): Frame {
  const flag = bytes[0];
  if (flag === 0 && bytes.length > 1) return { body: bytes.subarray(1), signature: undefined };
  if (flag === signedFlag && bytes.length > 1 + signatureLength) {
    const end = bytes.length - signatureLength;
    return { body: bytes.subarray(1, end), signature: bytes.subarray(end) };
  }
  throw new CandorError("malformed", "This is no event frame: its flag byte or its length is wrong.", {
    path: "frame",
  });
}

function refuse(code: "malformed" | "unknown-version" | "unknown-kind", path: string, message: string): never {
  throw new CandorError(code, `${path}: ${message}`, { path });
}

/** The checks of each header field after the version and kind, in wire order. */
const fieldChecks: readonly (readonly [name: string, good: (value: unknown) => boolean, needs: string])[] = [
  ["run", (v) => typeof v === "string" && isId(v), "must be an id"],
  ["task", (v) => typeof v === "string" && isTaskId(v), "must be an id or _run"],
  ["epoch", isNumber, "must be a whole number from 1"],
  ["role", (v) => typeof v === "string" && roleSet.has(v), `must be one of ${roles.join(", ")}`],
  ["actor", (v) => typeof v === "string" && isId(v), "must be an id"],
  ["seq", isNumber, "must be a whole number from 1"],
  ["prev", (v) => v instanceof Uint8Array && v.length === 32, "must be 32 bytes"],
  ["at", (v) => Number.isSafeInteger(v) && (v as number) >= 0, "must be milliseconds since 1970"],
  ["payload", (v) => v instanceof Uint8Array, "must be a byte string"],
];

function isNumber(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 1;
}

/**
 * Decodes a body whose bytes passed the ledger's strict scan. The payload stays undecoded, and it and `prev` are views.
 * @throws CandorError `malformed`, `unknown-version` or `unknown-kind`, with the path of the field.
 */
export function decodeBody(bytes: Uint8Array): EventBody {
  const fields = decodeValue(bytes);
  if (!Array.isArray(fields)) refuse("malformed", "body", "must be a msgpack array");
  const [version, kind, ...rest] = fields as readonly unknown[];
  if (version !== wireVersion) {
    refuse(
      "unknown-version",
      "version",
      `is ${String(version).slice(0, 20)}; this reader knows version ${wireVersion} only. Update it.`,
    );
  }
  if (typeof kind !== "string" || !kindSet.has(kind)) {
    refuse(
      "unknown-kind",
      "kind",
      `${typeof kind === "string" ? JSON.stringify(kind.slice(0, 80)) : "what stands here"} is no kind of version ${wireVersion}`,
    );
  }
  if (rest.length !== fieldChecks.length) refuse("malformed", "body", `must have ${fieldChecks.length + 2} members`);
  for (const [index, [name, good, needs]] of fieldChecks.entries()) {
    if (!good(rest[index])) refuse("malformed", name, needs);
  }
  const [run, task, epoch, role, actor, seq, prev, at, payload] = rest as unknown as BodyTail;
  const row = kindTable[kind as EventKind];
  if (row.role !== role) refuse("malformed", "role", `${kind} is written by ${row.role}, not by ${role}`);
  if (row.ofRun !== (task === runTask)) {
    refuse(
      "malformed",
      "task",
      row.ofRun ? `${kind} belongs to task ${runTask}` : `${kind} can't belong to task ${runTask}`,
    );
  }
  return { kind: kind as EventKind, run, task, epoch, role, actor, seq, prev, at, payload };
}

type BodyTail = [string, string, number, Role, string, number, Uint8Array, number, Uint8Array];

/** @throws CandorError `too-large` if a message of this many bytes would be refused by the server. */
export function requireSize(bytes: number): void {
  if (bytes <= limits.maxMessageBytes) return;
  throw new CandorError(
    "too-large",
    `The event has ${bytes} bytes and the log takes ${limits.maxMessageBytes}; shorten it or store the bulk elsewhere.`,
  );
}
