import { CandorError, decodeSigned, decodeValue, type GuardRecord } from "@candor/contract";

/** What a guard says, before it is signed. */
export interface UnsignedRecord {
  readonly kind: GuardRecord;
  readonly subject: string;
  /** 1, 2, … on its subject; always 1 for a quarantine record. */
  readonly ordinal: number;
  readonly body: Uint8Array;
  /** Called once it is stored or adopted, or given up because another guard stored something else. */
  readonly onSettled?: () => void;
}

/** A guard's record as stored. */
export interface StoredRecord {
  readonly subject: string;
  /** Sequence in the verdict stream. */
  readonly seq: number;
  readonly ordinal: number;
  readonly body: Uint8Array;
}

const quarantinePrefix = "candor.quarantine.";

/**
 * Reads as much of a stored record as its place on the subject takes. The body is compared byte for byte, so nothing
 * else of it is looked at.
 *
 * @throws CandorError `malformed`
 */
export function readRecord(message: { subject: string; seq: number; data: Uint8Array }): StoredRecord {
  const { subject, seq } = message;
  const { body } = decodeSigned(message.data);
  if (subject.startsWith(quarantinePrefix)) return { subject, seq, ordinal: 1, body };
  const value = decodeValue(body);
  const ordinal = typeof value === "object" && value !== null && "ordinal" in value ? value.ordinal : undefined;
  if (typeof ordinal === "number") return { subject, seq, ordinal, body };
  throw new CandorError("malformed", `The record at ${seq} on ${subject} has no ordinal: no guard wrote it.`);
}
