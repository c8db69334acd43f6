import {
  CandorError,
  certificateMessage,
  decodeQuarantineBody,
  decodeSigned,
  decodeVerdictBody,
  equalBytes,
  guardRecordMessage,
  parseVerdictSubject,
  type Certificate,
  type GuardRecord,
  type QuarantineBody,
  type Signed,
  type VerdictBody,
} from "@candor/contract";
import { verifySignature } from "@candor/ledger";

/** A verdict whose guard the operator vouches for. */
export interface CheckedVerdict {
  readonly verdict: VerdictBody;
  /** Name of the guard that signed it. */
  readonly guard: string;
}

type Refusal = "untrusted-key" | "bad-signature" | "subject-mismatch";

function refusal(code: Refusal, subject: string, why: string): CandorError {
  return new CandorError(
    code,
    `The record on ${subject} is not acted upon: ${why}. Somebody wrote past the guards, or this identity trusts another operator; ask the operator.`,
    { path: subject },
  );
}

/** Opens what guards wrote, trusting nothing but the operator's public key. */
export class GuardRecords {
  readonly #operator: string;
  /** Certificates that were found good, by key: there are few guards and many verdicts. */
  readonly #known = new Map<string, Certificate>();

  /** @param operator public key from `trust.json` */
  constructor(operator: string) {
    this.#operator = operator;
  }

  /**
   * Opens a verdict as stored, and checks that a guard of this operator signed it for the task its subject names.
   *
   * @throws CandorError `malformed`, `untrusted-key`, `bad-signature`, `subject-mismatch`
   */
  verdict(subject: string, data: Uint8Array): CheckedVerdict {
    const record = this.#open("verdict", subject, data);
    const verdict = decodeVerdictBody(record.body);
    const at = parseVerdictSubject(subject);
    if (at?.run !== verdict.run || at.task !== verdict.task || at.judge !== verdict.judge) {
      const found = `it is a verdict of judge ${verdict.judge} on ${verdict.run}/${verdict.task}`;
      throw refusal("subject-mismatch", subject, found);
    }
    return { verdict, guard: record.certificate.name };
  }

  /**
   * Opens a quarantine record as stored, with the same checks.
   *
   * @throws CandorError `malformed`, `untrusted-key`, `bad-signature`, `subject-mismatch`
   */
  quarantine(subject: string, data: Uint8Array): QuarantineBody {
    const body = decodeQuarantineBody(this.#open("quarantine", subject, data).body);
    if (subject.endsWith(`.${body.seq}`)) return body;
    throw refusal("subject-mismatch", subject, `it is about message ${body.seq}`);
  }

  #open(kind: GuardRecord, subject: string, data: Uint8Array): Signed {
    const record = decodeSigned(data);
    const { certificate } = record;
    if (certificate.role !== "guard") throw refusal("untrusted-key", subject, `${certificate.name} is no guard`);
    if (!this.#isCertified(certificate)) {
      throw refusal("untrusted-key", subject, `the operator did not certify the guard ${certificate.name}`);
    }
    if (!verifySignature(certificate.key, guardRecordMessage(kind, record.body), record.signature)) {
      throw refusal("bad-signature", subject, `the guard ${certificate.name} did not sign these bytes`);
    }
    return record;
  }

  #isCertified(certificate: Certificate): boolean {
    const known = this.#known.get(certificate.key);
    if (known?.name === certificate.name && equalBytes(known.signature, certificate.signature)) return true;
    if (!verifySignature(this.#operator, certificateMessage(certificate), certificate.signature)) return false;
    this.#known.set(certificate.key, { ...certificate, signature: certificate.signature.slice() });
    return true;
  }
}
