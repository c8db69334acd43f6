import {
  CandorError,
  decodeQuarantineBody,
  decodeSigned,
  decodeVerdictBody,
  guardRecordMessage,
  type GuardRecord,
  type QuarantineBody,
  type VerdictBody,
} from "@candor/contract";
import { checkCertificate, verifySignature } from "@candor/ledger";

/** The body of a guard's record, once the operator's key vouches for the guard and the guard's for the body. */
function openRecord(kind: GuardRecord, data: Uint8Array, operator: string): Uint8Array {
  const { body, certificate, signature } = decodeSigned(data);
  checkCertificate(operator, certificate);
  if (certificate.role !== "guard") {
    throw new CandorError("untrusted-key", `${certificate.name} signed a ${kind}, but the operator made it no guard.`);
  }
  if (!verifySignature(certificate.key, guardRecordMessage(kind, body), signature)) {
    throw new CandorError("bad-signature", `The ${kind} is not signed by the guard ${certificate.name} that it names.`);
  }
  return body;
}

/**
 * Reads a verdict.
 * @param operator public key text of the operator
 * @throws CandorError `malformed`, `untrusted-key`, `bad-signature`
 */
export function openVerdict(data: Uint8Array, operator: string): VerdictBody {
  return decodeVerdictBody(openRecord("verdict", data, operator));
}

/** Reads a quarantine record. @throws CandorError as `openVerdict` */
export function openQuarantine(data: Uint8Array, operator: string): QuarantineBody {
  return decodeQuarantineBody(openRecord("quarantine", data, operator));
}
