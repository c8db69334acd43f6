import type { GuardRecord } from "@candor/contract";
import type { AuditFinding } from "./finding.js";
import { firstDifference } from "./first-difference.js";
import type { Published } from "./published.js";
import { placeOf } from "./record-place.js";
import type { Expected } from "./replay.js";

/** How many records of a kind there are, and how many are the same on both sides. */
export interface Count {
  readonly reproduced: number;
  /** On either side: published, or brought forth by the log. */
  readonly all: number;
}

export interface Comparison {
  readonly findings: readonly AuditFinding[];
  readonly counts: Readonly<Record<GuardRecord, Count>>;
  /** Lanes on which something is missing that a guard may yet publish. */
  readonly unjudged: ReadonlySet<number>;
  /** Records that were said about entries past the end: they are left out of the counts. */
  readonly beyond: readonly BeyondRecord[];
}

/** A record about an entry that was not there to be folded. */
export interface BeyondRecord {
  readonly kind: GuardRecord;
  readonly lane: number;
  /** Log sequence of the entry. */
  readonly seq: number;
}

export interface ComparisonOptions {
  /** By lane, the log sequence up to which guards have stored everything they said. */
  readonly judgedUpTo: ReadonlyMap<number, number>;
  /** Last sequence of the log that was folded: what is said of later entries can't be compared. */
  readonly lastSeq: number;
}

function missing({ kind, subject, lane, seq }: Expected, ordinal: number, judged: boolean): AuditFinding {
  const what = kind === "verdict" ? `verdict ${ordinal} on ${subject}` : `the quarantine record ${subject}`;
  const why = judged ? "" : ": no guard has judged that far, or it was removed";
  return {
    code: "verdict-missing",
    lane,
    seq,
    subject,
    ordinal,
    sentence: `The log brings forth ${what} at sequence ${seq}, and it is not published${why}.`,
  };
}

function differing(
  { subject, lane, seq }: Expected,
  { recordSeq, guard }: Published,
  ordinal: number,
  field: string,
): AuditFinding {
  return {
    code: "verdict-differs",
    lane,
    seq,
    subject,
    ordinal,
    recordSeq,
    field,
    sentence: `Record ${ordinal} on ${subject}, by ${guard}, says something else than the log in ${field}.`,
  };
}

function laneOfRecord({ subject }: Published): number {
  return Number(subject.split(".")[2]);
}

function surplus(record: Published, ordinal: number): AuditFinding {
  const { subject, recordSeq, guard } = record;
  return {
    code: "verdict-differs",
    lane: laneOfRecord(record),
    seq: undefined,
    subject,
    ordinal,
    recordSeq,
    field: "record",
    sentence: `Record ${ordinal} on ${subject}, by ${guard}, is published out of its turn: the log brings forth nothing of the kind there.`,
  };
}

class Counter {
  reproduced = 0;
  all = 0;
}

/** Compares what guards published with what the log brings forth: byte for byte, in the order of each subject (B8). */
export function compareRecords(
  expected: ReadonlyMap<string, readonly Expected[]>,
  published: ReadonlyMap<string, readonly Published[]>,
  { judgedUpTo, lastSeq }: ComparisonOptions,
): Comparison {
  const findings: AuditFinding[] = [];
  const counts = { verdict: new Counter(), quarantine: new Counter() };
  const unjudged = new Set<number>();
  const beyond: BeyondRecord[] = [];

  const compareOne = (due: Expected, there: Published | undefined, ordinal: number): void => {
    const count = counts[due.kind];
    count.all += 1;
    if (there === undefined) {
      const judged = due.seq <= (judgedUpTo.get(due.lane) ?? 0);
      if (!judged) unjudged.add(due.lane);
      findings.push(missing(due, ordinal, judged));
      return;
    }
    const field = firstDifference(there.body, due.body);
    if (field === undefined) count.reproduced += 1;
    else findings.push(differing(due, there, ordinal, field));
  };

  const compareSubject = (due: readonly Expected[], there: readonly Published[]): void => {
    const byOrdinal = new Map<number, Published>();
    let last = 0;
    for (const record of there) {
      const { ordinal = 0, cause } = placeOf(record);
      if (cause > lastSeq) {
        beyond.push({ kind: record.kind, lane: laneOfRecord(record), seq: cause });
        continue;
      }
      if (ordinal > last && ordinal <= due.length) byOrdinal.set(ordinal, record);
      else {
        counts[record.kind].all += 1;
        findings.push(surplus(record, ordinal));
      }
      last = Math.max(last, ordinal);
    }
    for (const [index, one] of due.entries()) compareOne(one, byOrdinal.get(index + 1), index + 1);
  };

  for (const subject of new Set([...expected.keys(), ...published.keys()]))
    compareSubject(expected.get(subject) ?? [], published.get(subject) ?? []);
  return { findings, counts, unjudged, beyond };
}
