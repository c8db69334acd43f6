import { sha256, utf8, type StoredMessage } from "@candor/contract";

/** The 0x00 that RFC 6962 puts before a leaf, then our own domain. */
const prefix = Uint8Array.of(0, ...utf8("candor/v1/leaf"), 0);
const encoder = new TextEncoder();
const noBytes = new Uint8Array();

// One buffer for all leaves: hashing is synchronous, and a lane makes hundreds of thousands of leaves a second.
let buffer = new Uint8Array(4096);
let view = new DataView(buffer.buffer);
buffer.set(prefix);

function reserve(end: number): void {
  if (end <= buffer.length) return;
  const larger = new Uint8Array(end * 2);
  larger.set(buffer);
  buffer = larger;
  view = new DataView(buffer.buffer);
}

/** Puts a whole number of up to 53 bits into eight bytes, big-endian. */
function putNumber(at: number, value: number): number {
  view.setUint32(at, Math.floor(value / 2 ** 32));
  view.setUint32(at + 4, value >>> 0);
  return at + 8;
}

function putBytes(at: number, bytes: Uint8Array): number {
  view.setUint32(at, bytes.length);
  buffer.set(bytes, at + 4);
  return at + 4 + bytes.length;
}

function putText(at: number, text: string): number {
  const { written } = encoder.encodeInto(text, buffer.subarray(at + 4));
  view.setUint32(at, written);
  return at + 4 + written;
}

/**
 * The Merkle leaf hash of a stored message (RFC 6962, 2.1): SHA-256 over 0x00, `candor/v1/leaf`, 0x00, the stream sequence
 * and the timestamp in 8 bytes each, then subject, header block and bytes, each with its length in 4 bytes in front. All
 * integers are big-endian; a message without headers has an empty block.
 *
 * @param message the message as stored; its bytes are hashed as they are
 * @returns 32 bytes
 */
export function leafHash({ seq, timeMs, subject, headers = noBytes, data }: StoredMessage): Uint8Array {
  reserve(prefix.length + 28 + subject.length * 3 + headers.length + data.length);
  let at = putNumber(putNumber(prefix.length, seq), timeMs);
  at = putText(at, subject);
  at = putBytes(at, headers);
  return sha256(buffer.subarray(0, putBytes(at, data)));
}
