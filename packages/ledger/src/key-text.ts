import { CandorError } from "@candor/contract";
import { decodeBase32, encodeBase32 } from "./base32.js";

/** The kind of key that is written `U…` and `SU…`: a user of NATS. Candor uses no other. */
const userPrefix = 20 << 3;
const seedPrefix = 18 << 3;
const keyLength = 32;

/** CRC-16/XMODEM (polynomial 0x1021, start 0), the checksum of NATS keys. */
function crc16(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = ((crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021) & 0xffff;
  }
  return crc;
}

function encode(prefix: readonly number[], key: Uint8Array, what: string): string {
  if (key.length !== keyLength) {
    throw new CandorError("bad-key", `A ${what} has ${keyLength} bytes, this one has ${key.length}.`);
  }
  const body = Uint8Array.from([...prefix, ...key]);
  const crc = crc16(body);
  return encodeBase32(Uint8Array.from([...body, crc & 0xff, crc >>> 8]));
}

function decode(text: string, prefix: readonly number[], what: string, form: string): Uint8Array {
  const bytes = decodeBase32(text.trim());
  const end = prefix.length + keyLength;
  const refuse = (why: string): CandorError =>
    new CandorError("bad-key", `The ${what} ${why}. It should be NATS key text of the form ${form}.`);
  if (bytes?.length !== end + 2) throw refuse("is not base32 text of the right length");
  if (prefix.some((byte, index) => bytes[index] !== byte)) throw refuse("is another kind of key");
  if (crc16(bytes.subarray(0, end)) !== ((bytes[end] ?? 0) | ((bytes[end + 1] ?? 0) << 8))) {
    throw refuse("has a wrong checksum: a letter was changed or lost");
  }
  return bytes.slice(prefix.length, end);
}

const seedForm = [seedPrefix | (userPrefix >> 5), (userPrefix & 31) << 3] as const;

/**
 * Writes an Ed25519 public key as NATS key text (`U…`, 56 letters), the format of github.com/nats-io/nkeys.
 *
 * @param key 32 bytes
 * @throws CandorError `bad-key` for another length
 */
export function encodePublicKey(key: Uint8Array): string {
  return encode([userPrefix], key, "public key");
}

/**
 * Reads a public key from NATS key text.
 *
 * @param text `U…`, 56 letters; white space around it is ignored
 * @returns 32 bytes
 * @throws CandorError `bad-key` for anything else; the message never repeats the text
 */
export function decodePublicKey(text: string): Uint8Array {
  return decode(text, [userPrefix], "public key", "U…");
}

/**
 * Writes an Ed25519 seed as NATS key text (`SU…`, 58 letters).
 *
 * @param seed 32 bytes
 * @throws CandorError `bad-key` for another length
 */
export function encodeSeed(seed: Uint8Array): string {
  return encode(seedForm, seed, "seed");
}

/**
 * Reads a seed from NATS key text.
 *
 * @param text `SU…`, 58 letters; white space around it is ignored
 * @returns 32 bytes
 * @throws CandorError `bad-key` for anything else; the message never repeats the text
 */
export function decodeSeed(text: string): Uint8Array {
  return decode(text, seedForm, "seed", "SU…");
}

/** True if the text is a well-formed public key (`U…`) with the right checksum. */
export function isPublicKey(text: string): boolean {
  const bytes = decodeBase32(text);
  if (bytes?.length !== keyLength + 3 || bytes[0] !== userPrefix) return false;
  return crc16(bytes.subarray(0, keyLength + 1)) === ((bytes[keyLength + 1] ?? 0) | ((bytes[keyLength + 2] ?? 0) << 8));
}
