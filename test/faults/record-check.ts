import { equalBytes } from "@candor/contract";

/** A record as the fold of the log gives it. */
export interface ExpectedRecord {
  readonly subject: string;
  readonly ordinal: number;
  readonly body: Uint8Array;
}

/** A record as the verdict stream holds it. */
export interface FoundRecord extends ExpectedRecord {
  /** Signed by a guard whom the operator certified. */
  readonly isAuthentic: boolean;
}

export interface RecordCounts {
  /** Stored once more on the same subject with the same number. */
  readonly doubled: number;
  /** Given by the log and not stored. */
  readonly missing: number;
  /** Stored behind one with a higher number of the same subject. */
  readonly outOfOrder: number;
  /** Stored with another content than the log gives, or not given by it at all, or not signed by a guard. */
  readonly differing: number;
}

const keyOf = ({ subject, ordinal }: ExpectedRecord): string => `${subject} ${ordinal}`;

/**
 * Compares what is stored with what the log gives.
 * @param found in the order of the stream
 */
export function compareRecords(expected: readonly ExpectedRecord[], found: readonly FoundRecord[]): RecordCounts {
  const bodies = new Map(expected.map((record) => [keyOf(record), record.body]));
  const seen = new Set<string>();
  const highest = new Map<string, number>();
  let [doubled, outOfOrder, differing] = [0, 0, 0];
  for (const record of found) {
    const key = keyOf(record);
    const body = bodies.get(key);
    if (body === undefined || !record.isAuthentic || !equalBytes(body, record.body)) differing += 1;
    if (seen.has(key)) doubled += 1;
    else if (record.ordinal < (highest.get(record.subject) ?? 0)) outOfOrder += 1;
    seen.add(key);
    highest.set(record.subject, Math.max(highest.get(record.subject) ?? 0, record.ordinal));
  }
  const missing = [...bodies.keys()].filter((key) => !seen.has(key)).length;
  return { doubled, missing, outOfOrder, differing };
}
