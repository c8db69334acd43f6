/** What signs and verifies. Keys, seeds and signatures are the raw bytes of RFC 8032: 32, 32 and 64. */
export interface SignatureBackend {
  readonly name: "node" | "tweetnacl";
  /** The public key of a seed. */
  publicKey(seed: Uint8Array): Uint8Array;
  sign(seed: Uint8Array, message: Uint8Array): Uint8Array;
  /** What signs with a seed again and again. */
  signerOf(seed: Uint8Array): (message: Uint8Array) => Uint8Array;
  verify(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean;
}
