import type { AuditCode } from "@candor/contract";

/** One thing that an audit found wrong. */
export interface AuditFinding {
  readonly code: AuditCode;
  /** Undefined only where nothing tells it any more. */
  readonly lane: number | undefined;
  /** Sequence in the log: of the message in question, or of the cause of a verdict. */
  readonly seq: number | undefined;
  /** Subject of the verdict, quarantine record or checkpoint that it is about. */
  readonly subject?: string;
  /** Place of the record on its subject. */
  readonly ordinal?: number;
  /** Sequence of the record in the verdict stream. */
  readonly recordSeq?: number;
  /** First field in which the published record and the one that the log brings forth differ. */
  readonly field?: string;
  readonly sentence: string;
}
