import { CandorError } from "@candor/contract";

/** Longer texts are read by the platform's decoder, which drops a byte order mark in front. */
const markKeptUpTo = 200;

function invalid(at: number): CandorError {
  return new CandorError("malformed", `Invalid UTF-8 at byte ${at}.`);
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** Length of the well-formed sequence that starts with a byte above 0x7f (Unicode, table 3-7), or 0. */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const lead = bytes[at] as number;
  const second = bytes[at + 1] ?? 0;
  if (lead >= 0xc2 && lead <= 0xdf) return isContinuation(second) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    const low = lead === 0xe0 ? 0xa0 : 0x80;
    const high = lead === 0xed ? 0x9f : 0xbf;
    return second >= low && second <= high && isContinuation(bytes[at + 2]) ? 3 : 0;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    const low = lead === 0xf0 ? 0x90 : 0x80;
    const high = lead === 0xf4 ? 0x8f : 0xbf;
    const inRange = second >= low && second <= high;
    return inRange && isContinuation(bytes[at + 2]) && isContinuation(bytes[at + 3]) ? 4 : 0;
  }
  return 0;
}

/**
 * Checks that `bytes[start, end)` is well-formed UTF-8 which every decoder turns into the same text.
 *
 * @throws CandorError `malformed` for invalid UTF-8, `non-canonical` for a byte order mark that decoders drop
 */
export function scanText(bytes: Uint8Array, start: number, end: number): void {
  let at = start;
  while (at < end) {
    if ((bytes[at] as number) < 0x80) {
      at++;
      continue;
    }
    const length = sequenceLength(bytes, at);
    if (length === 0 || at + length > end) throw invalid(at);
    at += length;
  }
  if (end - start > markKeptUpTo && bytes[start] === 0xef && bytes[start + 1] === 0xbb && bytes[start + 2] === 0xbf) {
    throw new CandorError("non-canonical", `The text at byte ${start} begins with a byte order mark; leave it out.`);
  }
}

/**
 * Compares two UTF-8 texts in `bytes` by their UTF-16 code units, the order of JavaScript's `sort()` and so of the encoder:
 * code points above U+FFFF (lead byte 0xf0 and up) come before U+E000–U+FFFF (lead bytes 0xee and 0xef).
 *
 * @returns below 0, 0 or above 0, as the first is less, equal or greater
 */
export function compareText(bytes: Uint8Array, aStart: number, aEnd: number, bStart: number, bEnd: number): number {
  const shared = Math.min(aEnd - aStart, bEnd - bStart);
  for (let i = 0; i < shared; i++) {
    const a = bytes[aStart + i] as number;
    const b = bytes[bStart + i] as number;
    if (a === b) continue;
    if (a >= 0xee && b >= 0xee && a >= 0xf0 !== b >= 0xf0) return b - a;
    return a - b;
  }
  return aEnd - aStart - (bEnd - bStart);
}
