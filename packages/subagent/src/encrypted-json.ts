import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hkdfSync,
  type CipherGCM,
  type KeyObject,
} from "node:crypto";
import { CandorError, concatBytes } from "@candor/contract";
import { RandomPool } from "./random-pool.js";

const algorithm = "aes-256-gcm";
const nonceLength = 12;
const tagLength = 16;

const nonces = new RandomPool(nonceLength);
/** Derived once for as long as somebody holds the data key. */
const keys = new WeakMap<Uint8Array, KeyObject>();

function keyOf(dataKey: Uint8Array): KeyObject {
  const known = keys.get(dataKey);
  if (known !== undefined) return known;
  const derived = new Uint8Array(hkdfSync("sha256", dataKey, new Uint8Array(), "candor/v1/result", 32));
  const key = createSecretKey(derived);
  keys.set(dataKey, key);
  return key;
}

interface Ready {
  readonly nonce: Uint8Array;
  readonly cipher: CipherGCM;
}

/**
 * Encrypts what effects return under a key derived from the run's data key, so that erasing that key erases it too.
 * Unlike prose it must come back as it was, so nothing is redacted or cut.
 */
export class ResultCipher {
  readonly #dataKey: Uint8Array;
  #ready: Ready | undefined;

  constructor(dataKey: Uint8Array) {
    this.#dataKey = dataKey;
  }

  /** Does ahead what needs no value, while there is nothing else to do. */
  prepare(): void {
    this.#ready ??= this.#make();
  }

  /** @returns nonce, text and tag of AES-256-GCM; undefined for a value that JSON can't hold */
  encrypt(value: unknown): Uint8Array | undefined {
    const text = toJson(value);
    if (text === undefined) return undefined;
    const { nonce, cipher } = this.#ready ?? this.#make();
    this.#ready = undefined;
    return concatBytes(nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag());
  }

  #make(): Ready {
    const nonce = nonces.next();
    return { nonce, cipher: createCipheriv(algorithm, keyOf(this.#dataKey), nonce) };
  }
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
