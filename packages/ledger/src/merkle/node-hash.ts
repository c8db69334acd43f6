import { sha256 } from "@candor/contract";

const pair = new Uint8Array(65);
pair[0] = 1;

/** Hash of an inner node (RFC 6962, 2.1): SHA-256(0x01 ‖ left ‖ right). */
export function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  pair.set(left, 1);
  pair.set(right, 33);
  return sha256(pair);
}

/** The root of a tree without leaves: SHA-256 of nothing. */
export function emptyRoot(): Uint8Array {
  return sha256(new Uint8Array());
}
