import { concatBytes, domainPrefix, sha256, utf8 } from "@candor/contract";

const blockBytes = 64;

function padded(key: Uint8Array, pad: number): Uint8Array {
  const block = new Uint8Array(blockBytes).fill(pad);
  for (const [i, byte] of key.entries()) block[i] = byte ^ pad;
  return block;
}

/**
 * Names a text without giving it away: HMAC-SHA-256 (RFC 2104) under the run's data key. Once that key is erased, nobody
 * can tell what was named, not even by trying likely texts (Q5).
 *
 * @param dataKey 32 bytes
 */
export function proseDigest(text: string, dataKey: Uint8Array): Uint8Array {
  const message = concatBytes(domainPrefix("candor/v1/prose"), utf8(text));
  const inner = sha256(concatBytes(padded(dataKey, 0x36), message));
  return sha256(concatBytes(padded(dataKey, 0x5c), inner));
}
