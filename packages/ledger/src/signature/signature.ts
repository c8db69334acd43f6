import { backend } from "#signatures";
import { decodePublicKey, isPublicKey } from "../key-text.js";
import { createRecent } from "../recent.js";

const keys = createRecent<Uint8Array | undefined>(4096);

function keyBytes(publicKey: string): Uint8Array | undefined {
  return keys.get(publicKey, () => (isPublicKey(publicKey) ? decodePublicKey(publicKey) : undefined));
}

/**
 * Verifies an Ed25519 signature (RFC 8032) with strict semantics: canonical S, canonical A and R, none of small order.
 *
 * @param publicKey NATS key text, `U…`
 * @param message the bytes that were signed
 * @param signature 64 bytes
 * @returns false for a wrong signature and for anything that is no key or no signature; it never throws
 */
export function verifySignature(publicKey: string, message: Uint8Array, signature: Uint8Array): boolean {
  const key = keyBytes(publicKey);
  return key !== undefined && backend.verify(key, message, signature);
}
