import { backend } from "#signatures";
import nacl from "tweetnacl";
import { decodeSeed, encodePublicKey, encodeSeed } from "../key-text.js";

/** Whoever can sign for a key; the key itself may live elsewhere. */
export interface Signer {
  /** NATS key text, `U…`. */
  readonly publicKey: string;
  /** The 64-byte Ed25519 signature of the message. */
  sign(message: Uint8Array): Uint8Array;
}

/**
 * A signer over a seed in memory.
 *
 * @param seed NATS key text, `SU…`
 * @throws CandorError `bad-key` if it is not one
 */
export function createSigner(seed: string): Signer {
  const bytes = decodeSeed(seed);
  return { publicKey: encodePublicKey(backend.publicKey(bytes)), sign: backend.signerOf(bytes) };
}

/** A new random seed as NATS key text, `SU…`, from the platform's secure random numbers. */
export function createSeed(): string {
  return encodeSeed(nacl.randomBytes(32));
}
