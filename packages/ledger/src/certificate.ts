import {
  CandorError,
  certificateMessage,
  certificateSchema,
  decodeBase64Url,
  decodeValue,
  encodeBase64Url,
  encodeCanonical,
  taskKeyMessage,
  type Certificate,
  type TaskKeySubject,
} from "@candor/contract";
import { verifySignature } from "./signature/signature.js";
import type { Signer } from "./signature/signer.js";

export type CertificateSubject = Pick<Certificate, "role" | "name" | "key">;

/**
 * The operator's word that a key signs for a name in a role.
 *
 * @param operator signer of the operator's key
 * @param subject role, name and public key text of the identity
 */
export function issueCertificate(operator: Signer, { role, name, key }: CertificateSubject): Certificate {
  return { role, name, key, signature: operator.sign(certificateMessage({ role, name, key })) };
}

/**
 * Checks that the operator signed the certificate.
 *
 * @param operatorKey public key text of the operator
 * @throws CandorError `untrusted-key` if it was somebody else, or if a field was changed since
 */
export function checkCertificate(operatorKey: string, certificate: Certificate): void {
  if (verifySignature(operatorKey, certificateMessage(certificate), certificate.signature)) return;
  const { role, name } = certificate;
  throw new CandorError(
    "untrusted-key",
    `The certificate of ${role} ${name} is not signed by operator ${operatorKey}. Use credentials of this operator.`,
    { details: { role, name, operator: operatorKey } },
  );
}

/** The certificate as text for a message header: base64url of its canonical msgpack map. */
export function encodeCertificate(certificate: Certificate): string {
  const { role, name, key, signature } = certificate;
  return encodeBase64Url(encodeCanonical({ role, name, key, signature }));
}

/**
 * Reads a certificate from a message header. Its signature is not checked here.
 *
 * @throws CandorError `malformed`
 */
export function decodeCertificate(text: string): Certificate {
  const bytes = decodeBase64Url(text);
  const parsed = bytes === undefined ? undefined : certificateSchema.safeParse(decodeValue(bytes));
  if (parsed?.success === true) return { ...parsed.data, signature: parsed.data.signature.slice() };
  throw new CandorError("malformed", "This is no certificate: it must be base64url of a msgpack map.");
}

/**
 * Binds an ephemeral task key to one epoch of one task.
 *
 * @param deployment signer of the deployment identity that the delegation names
 * @returns the 64-byte signature that `accept` carries
 */
export function certifyTaskKey(deployment: Signer, subject: TaskKeySubject): Uint8Array {
  return deployment.sign(taskKeyMessage(subject));
}

/**
 * True if the deployment identity bound this task key to this epoch of this task.
 *
 * @param deploymentKey public key text that the delegation names
 */
export function isTaskKeyCertified(deploymentKey: string, subject: TaskKeySubject, signature: Uint8Array): boolean {
  return verifySignature(deploymentKey, taskKeyMessage(subject), signature);
}
