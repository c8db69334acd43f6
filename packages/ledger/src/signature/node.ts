import { createPrivateKey, createPublicKey, sign, verify, type KeyObject } from "node:crypto";
import { createRecent } from "../recent.js";
import type { SignatureBackend } from "./backend.js";
import { strict } from "./strict.js";

/** PKCS #8 header of an Ed25519 private key (RFC 8410): the seed follows. */
const pkcs8Prefix = Buffer.from("302e020100300506032b657004220420", "hex");

const publicKeys = createRecent<KeyObject | undefined>(4096);
const privateKeys = createRecent<KeyObject>(256);

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}

// A JWK is read in 15 µs, the DER form of the same key in 100.
function importPublicKey(publicKey: Uint8Array): KeyObject | undefined {
  const x = Buffer.from(publicKey.buffer, publicKey.byteOffset, publicKey.byteLength).toString("base64url");
  try {
    return createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  } catch {
    return undefined;
  }
}

function publicKeyObject(publicKey: Uint8Array): KeyObject | undefined {
  return publicKeys.get(latin1(publicKey), () => importPublicKey(publicKey));
}

function privateKeyObject(seed: Uint8Array): KeyObject {
  return privateKeys.get(latin1(seed), () =>
    createPrivateKey({ key: Buffer.concat([pkcs8Prefix, seed]), format: "der", type: "pkcs8" }),
  );
}

/** Signatures by node:crypto (OpenSSL): about 0.1 ms to verify. Imported keys are kept, the most recent first. */
export const backend: SignatureBackend = strict({
  name: "node",
  publicKey: (seed) =>
    Buffer.from(createPublicKey(privateKeyObject(seed)).export({ format: "jwk" }).x ?? "", "base64url"),
  sign: (seed, message) => sign(null, message, privateKeyObject(seed)),
  signerOf(seed) {
    const key = privateKeyObject(seed);
    return (message) => sign(null, message, key);
  },
  verify(publicKey, message, signature) {
    const key = publicKeyObject(publicKey);
    return key !== undefined && verify(null, message, key, signature);
  },
});
