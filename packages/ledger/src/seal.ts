import { CandorError, utf8 } from "@candor/contract";
import nacl from "tweetnacl";
import { redact } from "./redact.js";

const keyLength = 32;
const nonceLength = 24;
const overhead = nonceLength + 16;
/** Sealed prose of more bytes is refused by the wire. */
const maxSealedBytes = 16 * 1024;
/** How much of a text is searched for secrets; what lies beyond is cut off anyway. */
const maxSearchedLength = 256 * 1024;
const ellipsis = "…";
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** A new random data key of a run, 32 bytes. */
export function createDataKey(): Uint8Array {
  return nacl.randomBytes(keyLength);
}

function requireKey(dataKey: Uint8Array): void {
  if (dataKey.length === keyLength) return;
  throw new CandorError("bad-key", `A data key has ${keyLength} bytes, this one has ${dataKey.length}.`);
}

/** The longest beginning of a text that fits into so many UTF-8 bytes, with an ellipsis where something was cut off. */
function fit(text: string, maxBytes: number): string {
  const bytes = utf8(text);
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes - utf8(ellipsis).length;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return decoder.decode(bytes.subarray(0, end)) + ellipsis;
}

/**
 * Seals prose under the run's data key (NaCl secretbox: XSalsa20-Poly1305), after replacing what looks like a secret and cutting
 * what the wire has no room for (16 KiB sealed).
 *
 * @param text prose for people
 * @param dataKey 32 bytes
 * @returns 24-byte nonce and box
 * @throws CandorError `bad-key` for a key of another length
 */
export function seal(text: string, dataKey: Uint8Array): Uint8Array {
  requireKey(dataKey);
  const nonce = nacl.randomBytes(nonceLength);
  const prose = fit(redact(text.slice(0, maxSearchedLength)), maxSealedBytes - overhead);
  const box = nacl.secretbox(utf8(prose), nonce, dataKey);
  const sealed = new Uint8Array(nonceLength + box.length);
  sealed.set(nonce);
  sealed.set(box, nonceLength);
  return sealed;
}

/**
 * Opens sealed prose.
 *
 * @param sealed 24-byte nonce and box
 * @param dataKey 32 bytes
 * @throws CandorError `bad-seal` if it was sealed under another key or was changed, `bad-key` for a key of another length
 */
export function unseal(sealed: Uint8Array, dataKey: Uint8Array): string {
  requireKey(dataKey);
  const box = Uint8Array.from(sealed.subarray(nonceLength));
  const text =
    sealed.length < overhead
      ? null
      : nacl.secretbox.open(box, Uint8Array.from(sealed.subarray(0, nonceLength)), dataKey);
  if (text !== null) return decoder.decode(text);
  throw new CandorError(
    "bad-seal",
    "This prose does not open: it belongs to another run, was changed, or its data key is not the one it was sealed with.",
  );
}
