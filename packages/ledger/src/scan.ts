import { CandorError, limits } from "@candor/contract";
import { compareText, scanText } from "./scan-text.js";

const scratch = new DataView(new ArrayBuffer(8));

function malformed(at: number, what: string): CandorError {
  return new CandorError("malformed", `${what} at byte ${at}.`);
}

function nonCanonical(at: number, what: string): CandorError {
  return new CandorError("non-canonical", `${what} at byte ${at}; encode it the one short way.`);
}

/** The unsigned big-endian number of `width` bytes (1, 2 or 4) after the tag at `at`. */
function unsigned(bytes: Uint8Array, at: number, width: number): number {
  let value = 0;
  for (let i = 1; i <= width; i++) {
    const byte = bytes[at + i];
    if (byte === undefined) throw malformed(at, "Cut off value");
    value = value * 256 + byte;
  }
  return value;
}

/** Length field of a string, byte string, array or map; `least` is the smallest that needs this many bytes. */
function lengthField(bytes: Uint8Array, at: number, width: number, least: number): number {
  const length = unsigned(bytes, at, width);
  if (length < least) throw nonCanonical(at, `Length ${length} in ${width} bytes`);
  return length;
}

/** Checks that `length` bytes follow `start`, and returns their end. */
function endOf(bytes: Uint8Array, start: number, length: number): number {
  const end = start + length;
  if (end > bytes.length) throw malformed(start, "Cut off value");
  return end;
}

function scanString(bytes: Uint8Array, start: number, length: number): number {
  const end = endOf(bytes, start, length);
  scanText(bytes, start, end);
  return end;
}

/** Unsigned integers in 1, 2, 4 or 8 bytes, each too large for the next shorter form. */
function scanUnsigned(bytes: Uint8Array, at: number, width: number, least: number): number {
  const value =
    width === 8 ? unsigned(bytes, at, 4) * 2 ** 32 + unsigned(bytes, at + 4, 4) : unsigned(bytes, at, width);
  if (value < least) throw nonCanonical(at, `Integer ${value} in ${width} bytes`);
  if (value > Number.MAX_SAFE_INTEGER) throw malformed(at, "Integer beyond 2^53 − 1");
  return at + 1 + width;
}

/** Negative integers in 1, 2, 4 or 8 bytes, each too small for the next shorter form. */
function scanSigned(bytes: Uint8Array, at: number, width: number, most: number): number {
  const bits = 2 ** (8 * Math.min(width, 4));
  const head = unsigned(bytes, at, Math.min(width, 4));
  const high = head >= bits / 2 ? head - bits : head;
  const value = width === 8 ? high * 2 ** 32 + unsigned(bytes, at + 4, 4) : high;
  if (value > most) throw nonCanonical(at, `Integer ${value} in ${width} bytes`);
  if (value < Number.MIN_SAFE_INTEGER) throw malformed(at, "Integer beyond −(2^53 − 1)");
  return at + 1 + width;
}

/** Doubles hold only what no integer can: fractions, and whole numbers from 2^53. */
function scanDouble(bytes: Uint8Array, at: number): number {
  endOf(bytes, at + 1, 8);
  for (let i = 0; i < 8; i++) scratch.setUint8(i, bytes[at + 1 + i] as number);
  const value = scratch.getFloat64(0);
  if (!Number.isFinite(value)) throw nonCanonical(at, "Number that is not finite");
  if (Number.isSafeInteger(value)) throw nonCanonical(at, "Integer written as a double");
  return at + 9;
}

function scanArray(bytes: Uint8Array, start: number, length: number, depth: number): number {
  if (depth > limits.maxDepth) throw malformed(start, `Depth over ${limits.maxDepth}`);
  let at = start;
  for (let i = 0; i < length; i++) at = scanValue(bytes, at, depth);
  return at;
}

/** Start of the text whose tag is at `at`; throws if the tag is not that of a string. */
function keyStart(bytes: Uint8Array, at: number): number {
  const tag = bytes[at];
  if (tag === undefined) throw malformed(at, "Cut off value");
  if (tag >= 0xa0 && tag <= 0xbf) return at + 1;
  if (tag >= 0xd9 && tag <= 0xdb) return at + 1 + (1 << (tag - 0xd9));
  throw malformed(at, "Map key that is not a string");
}

/** The one key that the msgpack library refuses to read. */
const protoKey = [0x5f, 0x5f, 0x70, 0x72, 0x6f, 0x74, 0x6f, 0x5f, 0x5f] as const;

function isProtoKey(bytes: Uint8Array, start: number, end: number): boolean {
  return end - start === protoKey.length && protoKey.every((byte, index) => bytes[start + index] === byte);
}

function scanMap(bytes: Uint8Array, start: number, length: number, depth: number): number {
  if (depth > limits.maxDepth) throw malformed(start, `Depth over ${limits.maxDepth}`);
  let at = start;
  let lastStart = 0;
  let lastEnd = 0;
  for (let i = 0; i < length; i++) {
    const textStart = keyStart(bytes, at);
    const textEnd = scanValue(bytes, at, depth);
    const order = i === 0 ? -1 : compareText(bytes, lastStart, lastEnd, textStart, textEnd);
    if (order === 0) throw malformed(at, "Map key that was there before");
    if (order > 0) throw nonCanonical(at, "Map key out of order");
    if (bytes[textStart] === 0x5f && isProtoKey(bytes, textStart, textEnd)) throw malformed(at, "Map key __proto__");
    lastStart = textStart;
    lastEnd = textEnd;
    at = scanValue(bytes, textEnd, depth);
  }
  return at;
}

/** Scans the value at `at` inside `depth` containers, and returns where the next one starts. */
function scanValue(bytes: Uint8Array, at: number, depth: number): number {
  const tag = bytes[at];
  if (tag === undefined) throw malformed(at, "Cut off value");
  if (tag < 0x80 || tag >= 0xe0) return at + 1;
  if (tag < 0x90) return scanMap(bytes, at + 1, tag & 0x0f, depth + 1);
  if (tag < 0xa0) return scanArray(bytes, at + 1, tag & 0x0f, depth + 1);
  if (tag < 0xc0) return scanString(bytes, at + 1, tag & 0x1f);
  switch (tag) {
    case 0xc0:
    case 0xc2:
    case 0xc3:
      return at + 1;
    case 0xc4:
      return endOf(bytes, at + 2, lengthField(bytes, at, 1, 0));
    case 0xc5:
      return endOf(bytes, at + 3, lengthField(bytes, at, 2, 2 ** 8));
    case 0xc6:
      return endOf(bytes, at + 5, lengthField(bytes, at, 4, 2 ** 16));
    case 0xca:
      throw nonCanonical(at, "Single-precision number");
    case 0xcb:
      return scanDouble(bytes, at);
    case 0xcc:
      return scanUnsigned(bytes, at, 1, 2 ** 7);
    case 0xcd:
      return scanUnsigned(bytes, at, 2, 2 ** 8);
    case 0xce:
      return scanUnsigned(bytes, at, 4, 2 ** 16);
    case 0xcf:
      return scanUnsigned(bytes, at, 8, 2 ** 32);
    case 0xd0:
      return scanSigned(bytes, at, 1, -33);
    case 0xd1:
      return scanSigned(bytes, at, 2, -(2 ** 7) - 1);
    case 0xd2:
      return scanSigned(bytes, at, 4, -(2 ** 15) - 1);
    case 0xd3:
      return scanSigned(bytes, at, 8, -(2 ** 31) - 1);
    case 0xd9:
      return scanString(bytes, at + 2, lengthField(bytes, at, 1, 32));
    case 0xda:
      return scanString(bytes, at + 3, lengthField(bytes, at, 2, 2 ** 8));
    case 0xdb:
      return scanString(bytes, at + 5, lengthField(bytes, at, 4, 2 ** 16));
    case 0xdc:
      return scanArray(bytes, at + 3, lengthField(bytes, at, 2, 16), depth + 1);
    case 0xdd:
      return scanArray(bytes, at + 5, lengthField(bytes, at, 4, 2 ** 16), depth + 1);
    case 0xde:
      return scanMap(bytes, at + 3, lengthField(bytes, at, 2, 16), depth + 1);
    case 0xdf:
      return scanMap(bytes, at + 5, lengthField(bytes, at, 4, 2 ** 16), depth + 1);
    default:
      throw malformed(at, tag === 0xc1 ? "Reserved tag 0xc1" : "Extension type");
  }
}

/**
 * Checks that the bytes are exactly one msgpack value in the one encoding that wire version 1 allows: what the msgpack
 * library, with sorted keys, would write for it. It refuses what that library lets pass when it reads.
 *
 * @param bytes one whole value
 * @throws CandorError `malformed` for bytes that are cut off, left over, too deep (over 16 containers), hold duplicate or
 *   non-string keys, invalid UTF-8, integers beyond 2^53 − 1, extension types or reserved tags; `non-canonical` for values
 *   that have a shorter or another encoding: long integers and lengths, unsorted keys, single-precision, whole or non-finite
 *   doubles. The message names the byte offset.
 */
export function scan(bytes: Uint8Array): void {
  const end = scanValue(bytes, 0, 0);
  if (end !== bytes.length) throw malformed(end, `${bytes.length - end} bytes left over`);
}
