import { CandorError, type Certificate } from "@candor/contract";
import { checkCertificate, type Signer } from "@candor/ledger";

/** Who a guard is, and whom it trusts. */
export interface GuardIdentity {
  readonly name: string;
  readonly signer: Signer;
  /** The operator's word for this guard; it travels with every record. */
  readonly certificate: Certificate;
  /** Public signing key of the operator, from the trust file. */
  readonly operator: string;
}

/**
 * Checks that the operator vouches for this guard, before it signs anything.
 * @throws CandorError `untrusted-key`
 */
export function requireGuardIdentity({ name, signer, certificate, operator }: GuardIdentity): void {
  checkCertificate(operator, certificate);
  if (certificate.role === "guard" && certificate.name === name && certificate.key === signer.publicKey) return;
  throw new CandorError(
    "untrusted-key",
    `The certificate is for ${certificate.role} ${certificate.name} with another key, not for guard ${name}: use the credentials folder that "candor auth add guard ${name}" wrote, whole.`,
  );
}
