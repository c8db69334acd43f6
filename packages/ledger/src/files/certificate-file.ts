import { decodeBase64, encodeBase64, isId, roles, type Certificate, type Role } from "@candor/contract";
import { isPublicKey } from "../key-text.js";
import { parseDocument, textField, formatDocument, type Document } from "./document.js";
import { readOwnFile } from "./private-file.js";

function isRole(text: string): text is Role {
  return roles.some((role) => role === text);
}

/** The members of a certificate's JSON form, the version aside. */
export function certificateFields({ role, name, key, signature }: Certificate): Readonly<Record<string, string>> {
  return { role, name, key, signature: encodeBase64(signature) };
}

/** The JSON form of a certificate: public, to be handed to whoever opens runs or audits. */
export function formatCertificate(certificate: Certificate): string {
  return formatDocument(certificateFields(certificate));
}

/** Takes a certificate from its JSON form. Its signature is not checked here. @throws CandorError `bad-file` */
export function certificateOf(document: Document): Certificate {
  const role = textField(document, "role", isRole, `must be one of ${roles.join(", ")}`);
  const signature = textField(
    document,
    "signature",
    (text) => decodeBase64(text)?.length === 64,
    "must be base64 of 64 bytes",
  );
  return {
    role,
    name: textField(document, "name", isId, "must be 1–64 of A–Z a–z 0–9 _ -"),
    key: textField(document, "key", isPublicKey, "must be a public key (U…)"),
    signature: decodeBase64(signature) ?? new Uint8Array(),
  };
}

/**
 * Reads a certificate file. Its signature is not checked here: `checkCertificate` does it.
 *
 * @throws CandorError `not-found`, `permission-denied`, `key-exposed` if others can change it, `bad-file`, `unknown-version`
 */
export function readCertificateFile(path: string): Certificate {
  return certificateOf(parseDocument(path, readOwnFile(path)));
}
