import { CandorError, concatBytes, domainPrefix, encodeCanonical, sha256 } from "@candor/contract";

const domain = domainPrefix("candor/v1/intent-member");
const mostCharacters = 1_024;

/**
 * Digest of the member of a key family that an effect is about: HMAC-SHA-256 (RFC 2104) of its value under the run's data
 * key, so that the log tells members apart and names none.
 *
 * @param family the family's minted key
 * @param discriminator name of the argument by which members differ
 * @param given what the effect is called with
 * @throws CandorError `bad-argument` if the argument is missing, or neither a text nor a whole number
 */
export function memberDigest(family: string, discriminator: string, given: unknown, dataKey: Uint8Array): Uint8Array {
  const value = valueOf(given, discriminator);
  return hmac(dataKey, concatBytes(domain, encodeCanonical([family, value])));
}

const blockLength = 64;

/** HMAC-SHA-256 (RFC 2104) of two hashes: node:crypto looks its algorithm up for each, which takes longer than both. */
export function hmac(key: Uint8Array, message: Uint8Array): Uint8Array {
  const block = new Uint8Array(blockLength);
  block.set(key.length > blockLength ? sha256(key) : key);
  const padded = (pad: number): Uint8Array => block.map((byte) => byte ^ pad);
  return sha256(concatBytes(padded(0x5c), sha256(concatBytes(padded(0x36), message))));
}

function valueOf(given: unknown, discriminator: string): string | number {
  const isObject = typeof given === "object" && given !== null && Object.hasOwn(given, discriminator);
  const value = isObject ? (given as Readonly<Record<string, unknown>>)[discriminator] : undefined;
  if (typeof value === "string" && value !== "" && value.length <= mostCharacters) return value;
  if (Number.isSafeInteger(value)) return value as number;
  throw new CandorError(
    "bad-argument",
    `The key of this effect is told apart by its argument ${discriminator}: give it in arguments, as a text of up to ${mostCharacters} characters or a whole number.`,
    { path: `arguments.${discriminator}` },
  );
}
