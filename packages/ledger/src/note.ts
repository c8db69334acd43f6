import { CandorError, concatBytes, decodeBase64, encodeBase64, sha256, utf8 } from "@candor/contract";
import { decodePublicKey } from "./key-text.js";
import { verifySignature } from "./signature/signature.js";
import type { Signer } from "./signature/signer.js";

/** Algorithm byte of Ed25519 in key ids. */
const ed25519 = 1;
const signatureLine = /^— (?<name>[^\s+]+) (?<value>[A-Za-z0-9+/=]+)$/;

interface NoteSignature {
  readonly name: string;
  readonly keyId: Uint8Array;
  readonly signature: Uint8Array;
}

/** A note taken apart: the signed text with its last newline, and who signed. */
export interface Note {
  readonly text: string;
  readonly signatures: readonly NoteSignature[];
}

/** First four bytes of SHA-256(name ‖ newline ‖ algorithm ‖ key): tells keys of one name apart. */
function keyIdOf(name: string, publicKey: string): Uint8Array {
  return sha256(concatBytes(utf8(`${name}\n`), Uint8Array.of(ed25519), decodePublicKey(publicKey))).slice(0, 4);
}

function malformed(what: string): CandorError {
  return new CandorError("malformed", `This is no signed note: ${what}.`);
}

/**
 * Signs a text as a note (C2SP signed-note).
 *
 * @param text lines, each ended by a newline
 * @param name key name, without white space and plus sign
 * @throws CandorError `bad-argument` for a text or name that a note cannot hold
 */
export function signNote(text: string, name: string, signer: Signer): string {
  if (!text.endsWith("\n") || text.startsWith("\n") || text.includes("\n\n") || !/^[^\s+]+$/.test(name)) {
    throw new CandorError("bad-argument", "A note is made of non-empty lines and a key name without blanks or plus.");
  }
  const value = concatBytes(keyIdOf(name, signer.publicKey), signer.sign(utf8(text)));
  return `${text}\n— ${name} ${encodeBase64(value)}\n`;
}

/**
 * Takes a note apart without trusting it.
 *
 * @throws CandorError `malformed`
 */
export function parseNote(note: string): Note {
  const end = note.lastIndexOf("\n\n");
  if (end < 1 || !note.endsWith("\n")) throw malformed("a text, an empty line and signature lines are needed");
  const text = note.slice(0, end + 1);
  const signatures = note
    .slice(end + 2, -1)
    .split("\n")
    .map((line) => {
      const groups = signatureLine.exec(line)?.groups;
      const value = decodeBase64(groups?.["value"] ?? "");
      if (groups === undefined || value === undefined || value.length < 5) throw malformed("a signature line is wrong");
      return { name: groups["name"] ?? "", keyId: value.subarray(0, 4), signature: value.subarray(4) };
    });
  return { text, signatures };
}

/**
 * The text of a note, if the named key signed it (C2SP signed-note). Signatures of others are passed over.
 *
 * @param name key name
 * @param publicKey public key text
 * @throws CandorError `malformed` if it is no note, `bad-signature` if that key did not sign this text
 */
export function openNote(note: string, name: string, publicKey: string): string {
  const { text, signatures } = parseNote(note);
  const keyId = keyIdOf(name, publicKey);
  const own = signatures.find((one) => one.name === name && one.keyId.every((byte, index) => byte === keyId[index]));
  if (own !== undefined && verifySignature(publicKey, utf8(text), own.signature)) return text;
  throw new CandorError(
    "bad-signature",
    `The note is not signed by ${name}: it was changed, or another key signed it.`,
    {
      details: { name },
    },
  );
}
