import {
  certificateMessage,
  decodeSigned,
  guardRecordMessage,
  isCandorError,
  type Certificate,
  type GuardRecord,
  type StoredMessage,
} from "@candor/contract";
import { decodeCertificate, openCheckpoint, verifySignature, type Checkpoint } from "@candor/ledger";
import type { AuditFinding } from "./finding.js";

/** A record as guards stored it. */
export interface Published {
  readonly kind: GuardRecord;
  readonly subject: string;
  /** Sequence in the verdict stream. */
  readonly recordSeq: number;
  readonly body: Uint8Array;
  /** Name of the guard that signed it. */
  readonly guard: string;
}

const certificateHeader = "candor-certificate:";
const decoder = new TextDecoder();

/** The guard's certificate in a stored header block. */
function certificateIn(headers: Uint8Array | undefined): Certificate | undefined {
  const line = decoder
    .decode(headers ?? new Uint8Array())
    .split("\r\n")
    .find((text) => text.toLowerCase().startsWith(certificateHeader));
  return line === undefined ? undefined : decodeCertificate(line.slice(certificateHeader.length).trim());
}

function laneOfSubject(subject: string): number | undefined {
  const lane = Number(subject.split(".")[2]);
  return Number.isInteger(lane) ? lane : undefined;
}

/** Everything that guards have said, with every signature checked down from the operator's key alone (B6). */
export class PublishedRecords {
  readonly findings: AuditFinding[] = [];
  readonly checkpoints: Checkpoint[] = [];
  /** Records in the order of the stream, by subject. */
  readonly bySubject = new Map<string, Published[]>();
  /** Names of the guards that signed something. */
  readonly guards = new Set<string>();
  readonly #operator: string;
  readonly #wanted: (subject: string) => boolean;
  /** Certificates that were checked, by their signature: there are few guards and many records. */
  readonly #certified = new Map<string, boolean>();
  #last = 0;

  /**
   * @param operator public key of the operator
   * @param wanted whether a verdict or quarantine record is to be compared; checkpoints always are
   */
  constructor(operator: string, wanted: (subject: string) => boolean) {
    this.#operator = operator;
    this.#wanted = wanted;
  }

  /** Takes the next message of the verdict stream. */
  take(message: StoredMessage): void {
    this.skipTo(message.seq - 1);
    this.#last = message.seq;
    const { subject } = message;
    if (subject.startsWith("candor.checkpoint.")) this.#takeCheckpoint(message);
    else if (this.#wanted(subject)) this.#takeRecord(message);
  }

  /** Tells that nothing can be read up to a sequence: guards never remove anything. */
  skipTo(seq: number): void {
    if (seq <= this.#last) return;
    const [first, last] = [this.#last + 1, seq];
    this.#last = seq;
    const what =
      first === last
        ? `Sequence ${first} of the verdict stream is`
        : `Sequences ${first} to ${last} of the verdict stream are`;
    this.findings.push({
      code: "verdict-missing",
      lane: undefined,
      seq: undefined,
      recordSeq: first,
      sentence: `${what} gone or can't be read.`,
    });
  }

  #takeRecord({ seq, subject, data }: StoredMessage): void {
    const kind = subject.startsWith("candor.quarantine.") ? "quarantine" : "verdict";
    try {
      const { body, certificate, signature } = decodeSigned(data);
      const copy = Uint8Array.from(body);
      const list = this.bySubject.get(subject) ?? [];
      this.bySubject.set(subject, list);
      list.push({ kind, subject, recordSeq: seq, body: copy, guard: certificate.name });
      this.guards.add(certificate.name);
      const why = this.#refusal(certificate, () =>
        verifySignature(certificate.key, guardRecordMessage(kind, copy), signature),
      );
      if (why !== undefined) this.#refuse(subject, seq, "signature", why);
    } catch (error) {
      if (!isCandorError(error)) throw error;
      this.#refuse(subject, seq, "record", "it is no guard's record");
    }
  }

  #takeCheckpoint({ seq, subject, data, headers }: StoredMessage): void {
    try {
      const certificate = certificateIn(headers);
      if (certificate === undefined) {
        this.#refuse(subject, seq, "certificate", "it comes without its guard's certificate");
        return;
      }
      const checkpoint = openCheckpoint(decoder.decode(data), this.#operator, certificate);
      this.guards.add(certificate.name);
      if (checkpoint.lane === laneOfSubject(subject)) this.checkpoints.push(checkpoint);
      else this.#refuse(subject, seq, "origin", `it is about lane ${checkpoint.lane}`);
    } catch (error) {
      if (!isCandorError(error)) throw error;
      this.#refuse(subject, seq, "signature", error.message);
    }
  }

  #refusal(certificate: Certificate, isSigned: () => boolean): string | undefined {
    const { name, role, signature } = certificate;
    if (role !== "guard") return `${name} is certified as ${role} and is no guard`;
    const id = Buffer.from(signature).toString("latin1") + certificate.key + name;
    const isCertified =
      this.#certified.get(id) ?? verifySignature(this.#operator, certificateMessage(certificate), signature);
    this.#certified.set(id, isCertified);
    if (!isCertified) return `the operator did not certify ${name}`;
    return isSigned() ? undefined : `${name} did not sign this`;
  }

  #refuse(subject: string, recordSeq: number, field: string, why: string): void {
    this.findings.push({
      code: "verdict-differs",
      lane: laneOfSubject(subject),
      seq: undefined,
      subject,
      recordSeq,
      field,
      sentence: `The record at ${recordSeq} of the verdict stream, on ${subject}, does not count: ${why.replace(/\.$/, "")}.`,
    });
  }
}
