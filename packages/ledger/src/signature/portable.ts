import nacl from "tweetnacl";
import type { SignatureBackend } from "./backend.js";
import { strict } from "./strict.js";

/** Signatures in plain JavaScript (tweetnacl), for where there is no node:crypto: about 14 ms to verify. */
export const backend: SignatureBackend = strict({
  name: "tweetnacl",
  publicKey: (seed) => nacl.sign.keyPair.fromSeed(seed).publicKey,
  sign: (seed, message) => nacl.sign.detached(message, nacl.sign.keyPair.fromSeed(seed).secretKey),
  signerOf(seed) {
    const { secretKey } = nacl.sign.keyPair.fromSeed(seed);
    return (message) => nacl.sign.detached(message, secretKey);
  },
  verify: (publicKey, message, signature) => nacl.sign.detached.verify(message, signature, publicKey),
});
