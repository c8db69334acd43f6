import type { UnsignedRecord } from "./stored-record.js";

/** The last settled record of a subject, and the highest sequence known to be on it. */
export interface Head {
  readonly ordinal: number;
  readonly seq: number;
  readonly top: number;
}

/** A subject with records to be stored, one after the other. */
export interface RecordLine {
  readonly subject: string;
  /** Never empty: a line whose last record is settled is let go of. */
  readonly records: UnsignedRecord[];
  before: Head | undefined;
  /** Highest sequence known to be on the subject. */
  top: number;
  /** The first record, signed. */
  frame: Uint8Array | undefined;
  /** Sequence that must be last on the subject. */
  expected: number;
  /** `performance.now()` of the last attempt. */
  sentAt: number;
  /** While it waits for another guard: when to store it after all. */
  dueAt: number;
  /** It waited long enough. */
  isDue: boolean;
  pauseMs: number;
  /** Since when the record before it is missed; 0 if it is there. */
  behindSince: number;
}

export function newLine(record: UnsignedRecord, before: Head | undefined): RecordLine {
  return {
    subject: record.subject,
    records: [record],
    before,
    top: before?.top ?? 0,
    frame: undefined,
    expected: 0,
    sentAt: 0,
    dueAt: 0,
    isDue: false,
    pauseMs: 0,
    behindSince: 0,
  };
}

/** The record that the line is about. */
export function first(line: RecordLine): UnsignedRecord {
  return line.records[0] as UnsignedRecord;
}

/** Goes on to the next record. @returns what is now known of the subject */
export function settleFirst(line: RecordLine, seq: number): Head {
  const { ordinal } = first(line);
  line.records.shift();
  line.top = Math.max(line.top, seq);
  line.before = { ordinal, seq, top: line.top };
  line.frame = undefined;
  line.isDue = false;
  line.pauseMs = 0;
  line.behindSince = 0;
  return line.before;
}
