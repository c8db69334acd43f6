import { CandorError, isCandorError, isId, type Certificate } from "@candor/contract";
import { checkCertificate } from "../certificate.js";
import { isPublicKey } from "../key-text.js";
import { createSigner, type Signer } from "../signature/signer.js";
import { certificateOf } from "./certificate-file.js";
import { textField, textsField, type Document } from "./document.js";
import { isIdentityRole, rowOf, type IdentityRole } from "./identity-role.js";

/** Who somebody is, and what they connect and sign with. */
export interface Credentials {
  readonly role: IdentityRole;
  readonly name: string;
  /** Signs events and records. */
  readonly signer: Signer;
  /** Seed of the key that logs in at the server, `SU…`; never the signing key. */
  readonly connectionSeed: string;
  /** Public half of the connection key, `U…`. */
  readonly connectionKey: string;
  /** The operator's word for the signing key; none for operators and auditors, who sign no events. */
  readonly certificate: Certificate | undefined;
  readonly trust: { /** Public key of the operator, `U…`. */ readonly operator: string };
  readonly inboxPrefix: string;
  readonly apiPrefix: string;
  /** Where the server is, if the credentials say so. */
  readonly servers: readonly string[] | undefined;
}

/** What credentials consist of, before anything was checked. */
export interface CredentialParts {
  readonly identity: Document;
  readonly trust: Document;
  readonly certificate: Document | undefined;
  readonly connectionSeed: string;
  readonly signingSeed: string;
}

function untrusted(where: string, what: string): CandorError {
  return new CandorError("untrusted-key", `${where}: ${what}. The parts of these credentials do not belong together.`, {
    path: where,
  });
}

function checkedCertificate(
  parts: CredentialParts,
  operator: string,
  role: IdentityRole,
  name: string,
  key: string,
): Certificate | undefined {
  const { certified } = rowOf(role);
  if (certified === undefined) return undefined;
  if (parts.certificate === undefined) {
    throw new CandorError("not-found", `${parts.identity.where}: the certificate of ${role} ${name} is missing.`);
  }
  const { where } = parts.certificate;
  const certificate = certificateOf(parts.certificate);
  if (certificate.role !== certified || certificate.name !== name)
    throw untrusted(where, "the certificate is for somebody else");
  if (certificate.key !== key) throw untrusted(where, "the certificate is for another signing key");
  try {
    checkCertificate(operator, certificate);
  } catch (error) {
    throw isCandorError(error)
      ? untrusted(where, "the certificate is not signed by the operator in trust.json")
      : error;
  }
  return certificate;
}

/** Puts credentials together. @throws CandorError `bad-file`, `bad-key`, `not-found`, `untrusted-key` */
export function credentialsOf(parts: CredentialParts): Credentials {
  const { identity, trust, connectionSeed } = parts;
  const role = textField(identity, "role", isIdentityRole, "is no role of this version");
  const name = textField(identity, "name", isId, "must be 1–64 of A–Z a–z 0–9 _ -");
  const operator = textField(trust, "operator", isPublicKey, "must be a public key (U…)");
  const signer = createSigner(parts.signingSeed);
  const connectionKey = createSigner(connectionSeed).publicKey;
  if (connectionKey === signer.publicKey)
    throw untrusted(identity.where, "connection key and signing key are the same");
  if (role === "operator" && signer.publicKey !== operator)
    throw untrusted(trust.where, "the signing key is not the operator's");
  const isSubject = (text: string): boolean => /^[\w$-]+(?:\.[\w$-]+)*$/.test(text);
  return {
    role,
    name,
    signer,
    connectionSeed,
    connectionKey,
    certificate: checkedCertificate(parts, operator, role, name, signer.publicKey),
    trust: { operator },
    inboxPrefix: textField(identity, "inboxPrefix", isSubject, "must be a subject without wildcards"),
    apiPrefix: textField(identity, "apiPrefix", isSubject, "must be a subject without wildcards"),
    servers: textsField(identity, "servers"),
  };
}
