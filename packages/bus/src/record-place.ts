import { streams } from "@candor/contract";
import { readRecord, type StoredRecord } from "./stored-record.js";
import type { Link } from "./link.js";
import { readLast, readNext } from "./look-up.js";

/** A record known to be stored. */
export interface KnownRecord {
  readonly ordinal: number;
  readonly seq: number;
}

/** What the verdict stream has where a record belongs. */
export type RecordPlace =
  /** Nothing: the record follows the message at `after`, 0 for none. */
  | { readonly type: "free"; readonly after: number }
  | { readonly type: "occupied"; readonly record: StoredRecord }
  /** The record before it is not there. */
  | { readonly type: "behind"; readonly last: number };

/** Steps over the records of a subject, from the one after `seq` on, to the one with this ordinal. */
async function walk(link: Link, subject: string, seq: number, ordinal: number): Promise<RecordPlace> {
  let after = seq;
  for (;;) {
    const next = await readNext(link, streams.verdicts, subject, after + 1);
    if (next === undefined) return { type: "behind", last: after };
    const record = readRecord(next);
    if (record.ordinal >= ordinal) return { type: "occupied", record };
    after = next.seq;
  }
}

/**
 * Finds the place of the record with an ordinal on a subject, asking the stream's leader.
 *
 * @param before the record before it, where it is known
 * @throws CandorError `server-unreachable`, `malformed` if something on the subject is no record
 */
export async function findPlace(
  link: Link,
  subject: string,
  ordinal: number,
  before: KnownRecord | undefined,
): Promise<RecordPlace> {
  if (before?.ordinal === ordinal - 1 || ordinal === 1) {
    const after = ordinal === 1 ? 0 : (before?.seq ?? 0);
    const next = await readNext(link, streams.verdicts, subject, after + 1);
    if (next === undefined) return { type: "free", after };
    const record = readRecord(next);
    if (record.ordinal === ordinal) return { type: "occupied", record };
  }
  const last = await readLast(link, streams.verdicts, subject);
  if (last === undefined) return { type: "behind", last: 0 };
  const record = readRecord(last);
  if (record.ordinal === ordinal) return { type: "occupied", record };
  if (record.ordinal === ordinal - 1) return { type: "free", after: last.seq };
  if (record.ordinal < ordinal) return { type: "behind", last: last.seq };
  return walk(link, subject, 0, ordinal);
}
