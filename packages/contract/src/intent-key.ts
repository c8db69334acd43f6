import { sha256 } from "#digest";
import { concatBytes, domainPrefix, hex } from "./bytes.js";
import { encodeCanonical } from "./msgpack.js";

const domain = domainPrefix("candor/v1/intent-key-member");

/** Sixteen bytes as a UUID of version 8 (RFC 9562, 5.8): payment services take keys of that length, and some of that form alone. */
export function uuidOf(digest: Uint8Array): string {
  const bytes = Uint8Array.from(digest.subarray(0, 16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const text = hex(bytes);
  return `${text.slice(0, 8)}-${text.slice(8, 12)}-${text.slice(12, 16)}-${text.slice(16, 20)}-${text.slice(20)}`;
}

/**
 * The key of one member of a key family (F7): a function of the family's key and the member's digest, so that guards can
 * check it. The digest is keyed with the run's data key, so that they learn nothing of the member.
 *
 * @param family the family's minted key
 * @param member 32 bytes, as an `effect` event carries them
 */
export function memberKey(family: string, member: Uint8Array): string {
  return uuidOf(sha256(concatBytes(domain, encodeCanonical([family, member]))));
}
