import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { CandorError } from "@candor/contract";

const algorithm = "aes-256-gcm";
const nonceLength = 12;
const tagLength = 16;

function keyOf(dataKey: Uint8Array): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", dataKey, new Uint8Array(), "candor/v1/result", 32));
}

/**
 * Encrypts what an effect returned under a key derived from the run's data key, so that erasing that key erases it too.
 * Unlike prose it must come back as it was, so nothing is redacted or cut.
 *
 * @returns nonce, text and tag of AES-256-GCM; undefined for a value that JSON can't hold
 */
export function encryptJson(value: unknown, dataKey: Uint8Array): Uint8Array | undefined {
  const text = toJson(value);
  if (text === undefined) return undefined;
  const nonce = randomBytes(nonceLength);
  const cipher = createCipheriv(algorithm, keyOf(dataKey), nonce);
  return new Uint8Array(Buffer.concat([nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]));
}

/** @throws CandorError `bad-seal` if the key is another or the bytes were changed */
export function decryptJson(bytes: Uint8Array, dataKey: Uint8Array): unknown {
  try {
    const end = bytes.length - tagLength;
    const decipher = createDecipheriv(algorithm, keyOf(dataKey), bytes.subarray(0, nonceLength));
    decipher.setAuthTag(bytes.subarray(end));
    const text = Buffer.concat([decipher.update(bytes.subarray(nonceLength, end)), decipher.final()]).toString("utf8");
    return text === "" ? undefined : (JSON.parse(text) as unknown);
  } catch (cause) {
    throw new CandorError("bad-seal", "The stored result of an effect does not open under this run's data key.", {
      cause,
    });
  }
}

function toJson(value: unknown): string | undefined {
  if (value === undefined) return "";
  try {
    // For functions and symbols it gives undefined, whatever its type says.
    const text: unknown = JSON.stringify(value);
    return typeof text === "string" ? text : undefined;
  } catch {
    return undefined;
  }
}
