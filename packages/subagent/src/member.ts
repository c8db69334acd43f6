import { createHmac } from "node:crypto";
import { CandorError, concatBytes, domainPrefix, encodeCanonical } from "@candor/contract";

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
  return new Uint8Array(
    createHmac("sha256", dataKey)
      .update(concatBytes(domain, encodeCanonical([family, value])))
      .digest(),
  );
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
