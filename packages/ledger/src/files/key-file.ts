import { CandorError, isCandorError } from "@candor/contract";
import { decodeSeed, encodeSeed } from "../key-text.js";
import { createSeed } from "../signature/signer.js";
import { readPrivateFile, writePrivateFile } from "./private-file.js";

/**
 * Makes a key file of mode 0600. An existing file is never touched.
 *
 * @param path where to
 * @param seed NATS key text, `SU…`; a new one by default
 * @returns the seed
 * @throws CandorError `bad-file` if there is a file already, `bad-key` for a wrong seed, `folder-not-writable`, `not-found`
 */
export function createKeyFile(path: string, seed: string = createSeed()): string {
  const text = encodeSeed(decodeSeed(seed));
  writePrivateFile(path, `${text}\n`);
  return text;
}

/**
 * Reads a key file, and refuses one that others can read.
 *
 * @returns the seed, `SU…`
 * @throws CandorError `key-exposed` if others can read it or another user owns it, `bad-key` if it holds no seed, `not-found`,
 *   `permission-denied`, `bad-file`
 */
export function readKeyFile(path: string): string {
  const text = readPrivateFile(path);
  try {
    return encodeSeed(decodeSeed(text));
  } catch (error) {
    throw isCandorError(error) ? new CandorError(error.code, `${path}: ${error.message}`, { path }) : error;
  }
}
