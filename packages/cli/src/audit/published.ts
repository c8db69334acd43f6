import { decodeSigned, isCandorError, type GuardRecord, type StoredMessage } from "@candor/contract";
import { GuardRecords, readCertificateHeader, type Checkpoint } from "@candor/ledger";
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
  readonly #records: GuardRecords;
  readonly #wanted: (subject: string) => boolean;
  #last = 0;

  /**
   * @param operator public key of the operator
   * @param wanted whether a verdict or quarantine record is to be compared; checkpoints always are
   */
  constructor(operator: string, wanted: (subject: string) => boolean) {
    this.#records = new GuardRecords(operator);
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

  /** One that nobody certified signed is kept: that it is there is a finding, and what it says is compared. */
  #takeRecord({ seq, subject, data }: StoredMessage): void {
    const kind = subject.startsWith("candor.quarantine.") ? "quarantine" : "verdict";
    let field = "record";
    try {
      const record = decodeSigned(data);
      const { name } = record.certificate;
      const list = this.bySubject.get(subject) ?? [];
      this.bySubject.set(subject, list);
      list.push({ kind, subject, recordSeq: seq, body: Uint8Array.from(record.body), guard: name });
      this.guards.add(name);
      field = "signature";
      this.#records.check(kind, subject, record);
    } catch (error) {
      if (!isCandorError(error)) throw error;
      this.#refuse(subject, seq, field, error.message);
    }
  }

  #takeCheckpoint({ seq, subject, data, headers }: StoredMessage): void {
    try {
      const certificate = readCertificateHeader(headers);
      if (certificate === undefined) {
        this.#refuse(subject, seq, "certificate", "it comes without its guard's certificate");
        return;
      }
      const checkpoint = this.#records.checkpoint(subject, data, certificate);
      this.guards.add(certificate.name);
      this.checkpoints.push(checkpoint);
    } catch (error) {
      if (!isCandorError(error)) throw error;
      this.#refuse(subject, seq, error.code === "subject-mismatch" ? "origin" : "signature", error.message);
    }
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
