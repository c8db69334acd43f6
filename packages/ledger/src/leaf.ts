import { sha256, utf8 } from "@candor/contract";

/** A message of the log as the server stores it. */
export interface StoredMessage {
  /** Stream sequence. */
  readonly seq: number;
  /** The log's timestamp in ms since 1970. */
  readonly timeMs: number;
  /** The stored subject, `candor.log.<lane>.…`. */
  readonly subject: string;
  /** Names and values in stored order, as the client's own header type iterates. */
  readonly headers?: Iterable<readonly [name: string, values: readonly string[]]> | undefined;
  readonly data: Uint8Array;
}

/** The 0x00 that RFC 6962 puts before a leaf, then our own domain. */
const prefix = Uint8Array.of(0, ...utf8("candor/v1/leaf"), 0);
const encoder = new TextEncoder();

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

function putText(at: number, text: string): number {
  const start = at + 4;
  reserve(start + text.length * 3);
  const { written } = encoder.encodeInto(text, buffer.subarray(start));
  view.setUint32(at, written);
  return start + written;
}

function putHeaders(at: number, headers: NonNullable<StoredMessage["headers"]>): number {
  let end = at + 4;
  let count = 0;
  for (const [name, values] of headers) {
    for (const value of values) {
      end = putText(putText(end, name), value);
      reserve(end + 8);
      count++;
    }
  }
  view.setUint32(at, count);
  return end;
}

/** Puts a whole number of up to 53 bits into eight bytes, big-endian. */
function putNumber(at: number, value: number): number {
  view.setUint32(at, Math.floor(value / 2 ** 32));
  view.setUint32(at + 4, value >>> 0);
  return at + 8;
}

/**
 * The Merkle leaf hash of a stored message (RFC 6962, 2.1): SHA-256 over 0x00, `candor/v1/leaf`, 0x00, the stream sequence
 * and the timestamp in 8 bytes each, then subject, headers and bytes, each length with 4 bytes in front. All integers are
 * big-endian; the headers are their count and then name and value of each.
 *
 * @param message the message as stored; its bytes are hashed as they are
 * @returns 32 bytes
 */
export function leafHash(message: StoredMessage): Uint8Array {
  let at = putNumber(putNumber(prefix.length, message.seq), message.timeMs);
  at = putText(at, message.subject);
  reserve(at + 12);
  if (message.headers === undefined) {
    view.setUint32(at, 0);
    at += 4;
  } else {
    at = putHeaders(at, message.headers);
  }
  reserve(at + 4 + message.data.length);
  view.setUint32(at, message.data.length);
  buffer.set(message.data, at + 4);
  return sha256(buffer.subarray(0, at + 4 + message.data.length));
}
