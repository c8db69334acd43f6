import {
  CandorError,
  certificateMessage,
  checkpointSubject,
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
import { decodeCertificate } from "./certificate.js";
import { openCheckpoint, type Checkpoint } from "./checkpoint.js";
import { verifySignature } from "./signature/signature.js";

/** Message header in which a checkpoint brings its guard's certificate, as `encodeCertificate` writes it. */
export const certificateHeader = "Candor-Certificate";

/** A verdict whose guard the operator vouches for. */
export interface CheckedVerdict {
  readonly verdict: VerdictBody;
  /** Name of the guard that signed it. */
  readonly guard: string;
}

type Refusal = "untrusted-key" | "bad-signature" | "subject-mismatch";

const decoder = new TextDecoder();

function refusal(code: Refusal, subject: string, why: string): CandorError {
  return new CandorError(
    code,
    `The record on ${subject} is not acted upon: ${why}. Somebody wrote past the guards, or this identity trusts another operator; ask the operator.`,
    { path: subject },
  );
}

/**
 * The certificate in a stored header block (`NATS/1.0`, then a line a header).
 *
 * @param headers the block as stored; undefined for a message without headers
 * @returns undefined if the block names no certificate
 * @throws CandorError `malformed` if it names one that can't be read
 */
export function readCertificateHeader(headers: Uint8Array | undefined): Certificate | undefined {
  const prefix = `${certificateHeader.toLowerCase()}:`;
  const lines = headers === undefined ? [] : decoder.decode(headers).split("\r\n");
  const line = lines.find((text) => text.toLowerCase().startsWith(prefix));
  return line === undefined ? undefined : decodeCertificate(line.slice(prefix.length).trim());
}

/** Opens what guards wrote (B6), trusting nothing but the operator's public key. */
export class GuardRecords {
  readonly #operator: string;
  /** Certificates that were found good, by key: there are few guards and many records. */
  readonly #known = new Map<string, Certificate>();

  /** @param operator public key text of the operator */
  constructor(operator: string) {
    this.#operator = operator;
  }

  /**
   * Opens a verdict as stored, and checks that a guard of this operator signed it for the task its subject names.
   *
   * @param subject as stored
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
   * @param subject as stored
   * @throws CandorError `malformed`, `untrusted-key`, `bad-signature`, `subject-mismatch`
   */
  quarantine(subject: string, data: Uint8Array): QuarantineBody {
    const body = decodeQuarantineBody(this.#open("quarantine", subject, data).body);
    if (subject.endsWith(`.${body.seq}`)) return body;
    throw refusal("subject-mismatch", subject, `it is about message ${body.seq}`);
  }

  /**
   * Opens a checkpoint as stored, and checks that it is about the lane its subject names.
   *
   * @param subject as stored
   * @param data the note
   * @param certificate of the guard that signed it, from the message's header
   * @throws CandorError `malformed`, `untrusted-key`, `bad-signature`, `subject-mismatch`
   */
  checkpoint(subject: string, data: Uint8Array, certificate: Certificate): Checkpoint {
    const checkpoint = openCheckpoint(decoder.decode(data), this.#operator, certificate);
    if (subject === checkpointSubject(checkpoint.lane)) return checkpoint;
    throw refusal("subject-mismatch", subject, `it is about lane ${checkpoint.lane}`);
  }

  /**
   * Checks a verdict or quarantine record that is decoded already: for those who must keep the refused ones too.
   *
   * @param subject as stored, for the text of the error
   * @throws CandorError `untrusted-key`, `bad-signature`
   */
  check(kind: GuardRecord, subject: string, { body, certificate, signature }: Signed): void {
    const { name, role, key } = certificate;
    if (role !== "guard") throw refusal("untrusted-key", subject, `${name} is certified as ${role} and is no guard`);
    if (!this.#isCertified(certificate)) {
      throw refusal("untrusted-key", subject, `the operator did not certify the guard ${name}`);
    }
    if (!verifySignature(key, guardRecordMessage(kind, body), signature)) {
      throw refusal("bad-signature", subject, `the guard ${name} did not sign these bytes`);
    }
  }

  #open(kind: GuardRecord, subject: string, data: Uint8Array): Signed {
    const record = decodeSigned(data);
    this.check(kind, subject, record);
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
