import type { SignatureBackend } from "./backend.js";

/** The order L of the base point, little-endian: 2^252 + 27742317777372353535851937790883648493 (RFC 8032, 5.1). */
const order = Uint8Array.from([
  0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0x10,
]);

/** The y coordinates of the eight points whose order divides 8, little-endian; each stands for both signs of x. */
const smallOrder: readonly Uint8Array[] = [
  Uint8Array.of(0, ...new Uint8Array(31)),
  Uint8Array.of(1, ...new Uint8Array(31)),
  Uint8Array.of(0xec, ...new Uint8Array(30).fill(0xff), 0x7f),
  Uint8Array.from([
    0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98, 0xf0, 0xd5, 0xdf, 0xac,
    0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05,
  ]),
  Uint8Array.from([
    0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67, 0x0f, 0x2a, 0x20, 0x53,
    0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a,
  ]),
];

const pointLength = 32;
const signatureLength = 64;

function at(bytes: Uint8Array, index: number): number {
  return bytes[index] as number;
}

/** True if the scalar in the second half of the signature is below L: otherwise S + L would be a second signature. */
function hasCanonicalScalar(signature: Uint8Array): boolean {
  for (let i = pointLength - 1; i >= 0; i--) {
    const byte = at(signature, pointLength + i);
    const limit = at(order, i);
    if (byte !== limit) return byte < limit;
  }
  return false;
}

/** True if the 32 bytes at `offset` encode a y below p = 2^255 − 19. Whether the point exists is left to the backend. */
function hasCanonicalPoint(bytes: Uint8Array, offset: number): boolean {
  if (at(bytes, offset) < 0xed || (at(bytes, offset + 31) & 0x7f) !== 0x7f) return true;
  for (let i = 30; i > 0; i--) if (at(bytes, offset + i) !== 0xff) return true;
  return false;
}

function hasSmallOrder(bytes: Uint8Array, offset: number): boolean {
  const first = at(bytes, offset);
  for (const point of smallOrder) {
    if (first !== point[0] || (at(bytes, offset + 31) & 0x7f) !== point[31]) continue;
    let same = 1;
    while (same < 31 && at(bytes, offset + same) === point[same]) same++;
    if (same === 31) return true;
  }
  return false;
}

/** True for a key that may verify anything: 32 bytes, canonical, and not a small-order point that signs for everybody. */
export function isStrictKey(publicKey: Uint8Array): boolean {
  return publicKey.length === pointLength && hasCanonicalPoint(publicKey, 0) && !hasSmallOrder(publicKey, 0);
}

/** True for a signature of 64 bytes with a canonical S and a canonical R that is not of small order. */
export function isStrictSignature(signature: Uint8Array): boolean {
  return (
    signature.length === signatureLength &&
    hasCanonicalScalar(signature) &&
    hasCanonicalPoint(signature, 0) &&
    !hasSmallOrder(signature, 0)
  );
}

/**
 * Puts one strict semantics in front of a backend, so that all backends give the same answer to every input:
 * RFC 8032 5.1.7 with the checks of "Taming the many EdDSAs" (Chalkias, Garillot, Nikolaenko 2020) on S, A and R.
 *
 * @param backend one that computes the cofactorless equation and compares R by its bytes
 */
export function strict(backend: SignatureBackend): SignatureBackend {
  const passes = (publicKey: Uint8Array, signature: Uint8Array): boolean =>
    isStrictSignature(signature) && isStrictKey(publicKey);
  return {
    name: backend.name,
    publicKey: (seed) => backend.publicKey(seed),
    sign: (seed, message) => backend.sign(seed, message),
    signerOf: (seed) => backend.signerOf(seed),
    verify: (publicKey, message, signature) =>
      passes(publicKey, signature) && backend.verify(publicKey, message, signature),
  };
}
