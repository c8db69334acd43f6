import { decodeValue, encodeCanonical, eventKinds, type EventKind } from "@candor/contract";

/** A stored subject and the sequence of the last message that must be on it. */
export interface Expectation {
  readonly subject: string;
  readonly sequence: number;
}

/** What the spool's file holds, one record each. */
export type SpoolRecord =
  | { readonly type: "opened"; readonly delegation: Uint8Array; readonly taskKey: string }
  | {
      readonly type: "event";
      readonly seq: number;
      readonly kind: EventKind;
      readonly frame: Uint8Array;
      readonly expect?: Expectation;
    }
  /** From here on written since that start of the machine: what is not flushed outlives a process, and no machine. */
  | { readonly type: "boot"; readonly id: string }
  /** The log has the event, at this stream sequence. */
  | { readonly type: "stored"; readonly seq: number; readonly sequence: number }
  /** From here on the log may be another one than before: the server was away, or this process is a new one. */
  | { readonly type: "interrupted" }
  /** The log was compared after so many interruptions: what was marked as stored before them, but after `after`, it lost. */
  | { readonly type: "compared"; readonly interruptions: number; readonly after: number }
  /** The server refused the event, so its number is free again. */
  | { readonly type: "refused"; readonly seq: number }
  /** What an effect returned, encrypted JSON. */
  | { readonly type: "result"; readonly key: string; readonly dispatch: number; readonly result: Uint8Array }
  /** The `done` record of an intent key is stored. */
  | { readonly type: "done"; readonly key: string };

const version = 1;

type Fields = readonly unknown[];

/** The members of each record behind its version and type, in order. */
const writers: { readonly [T in SpoolRecord["type"]]: (record: Extract<SpoolRecord, { type: T }>) => Fields } = {
  opened: ({ delegation, taskKey }) => [delegation, taskKey],
  event: ({ seq, kind, frame, expect }) => [
    seq,
    kind,
    frame,
    ...(expect === undefined ? [] : [expect.subject, expect.sequence]),
  ],
  boot: ({ id }) => [id],
  stored: ({ seq, sequence }) => [seq, sequence],
  interrupted: () => [],
  compared: ({ interruptions, after }) => [interruptions, after],
  refused: ({ seq }) => [seq],
  result: ({ key, dispatch, result }) => [key, dispatch, result],
  done: ({ key }) => [key],
};

export function encodeSpoolRecord(record: SpoolRecord): Uint8Array {
  const write = writers[record.type] as (record: SpoolRecord) => Fields;
  return encodeCanonical([version, record.type, ...write(record)]);
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
const isText = (value: unknown): value is string => typeof value === "string";
const isBytes = (value: unknown): value is Uint8Array => value instanceof Uint8Array;
const isKind = (value: unknown): value is EventKind =>
  isText(value) && (eventKinds as readonly string[]).includes(value);

const readers: Readonly<Record<SpoolRecord["type"], (fields: Fields) => SpoolRecord | undefined>> = {
  opened: ([delegation, taskKey]) =>
    isBytes(delegation) && isText(taskKey) ? { type: "opened", delegation, taskKey } : undefined,
  event: ([seq, kind, frame, subject, sequence]) => {
    if (!isCount(seq) || !isKind(kind) || !isBytes(frame)) return undefined;
    const event = { type: "event", seq, kind, frame } as const;
    return isText(subject) && isCount(sequence) ? { ...event, expect: { subject, sequence } } : event;
  },
  boot: ([id]) => (isText(id) ? { type: "boot", id } : undefined),
  stored: ([seq, sequence]) => (isCount(seq) && isCount(sequence) ? { type: "stored", seq, sequence } : undefined),
  interrupted: () => ({ type: "interrupted" }),
  compared: ([interruptions, after]) =>
    isCount(interruptions) && isCount(after) ? { type: "compared", interruptions, after } : undefined,
  refused: ([seq]) => (isCount(seq) ? { type: "refused", seq } : undefined),
  result: ([key, dispatch, result]) =>
    isText(key) && isCount(dispatch) && isBytes(result) ? { type: "result", key, dispatch, result } : undefined,
  done: ([key]) => (isText(key) ? { type: "done", key } : undefined),
};

/** Reads a record; undefined if it is none of this version. */
export function decodeSpoolRecord(bytes: Uint8Array): SpoolRecord | undefined {
  const value = decodeValue(bytes);
  if (!Array.isArray(value)) return undefined;
  const [found, type, ...fields] = value as readonly unknown[];
  if (found !== version || !isText(type) || !Object.hasOwn(readers, type)) return undefined;
  return readers[type as SpoolRecord["type"]](fields);
}
