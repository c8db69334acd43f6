import { readFile } from "node:fs/promises";
import { CandorError } from "@candor/contract";

/** A message that was seen in the verdict stream: `hash` is the hex of `messageHash`. */
export interface SeenMessage {
  readonly sequence: number;
  readonly subject: string;
  readonly hash: string;
}

export interface SeenCheckpoint extends SeenMessage {
  /** Messages of the lane that the checkpoint covers. */
  readonly size: number;
  /** Base64, as in the note. */
  readonly root: string;
}

/** One of the fleet's own intents, the last on its subject. */
export interface OwnIntent {
  readonly run: string;
  readonly task: string;
  readonly lane: number;
  /** Stream sequence in the log. */
  readonly sequence: number;
  readonly hash: string;
  readonly control: number;
  readonly epoch: number;
}

/** What an orchestrator remembers of one log. */
export interface Recollection {
  /** The newest message of the verdict stream that was handled. */
  readonly verdict?: SeenMessage;
  readonly lanes: Readonly<Record<string, SeenCheckpoint>>;
  readonly intents: Readonly<Record<string, OwnIntent>>;
}

export const nothingSeen: Recollection = { lanes: {}, intents: {} };

export function intentKey(at: { readonly run: string; readonly task: string }): string {
  return `${at.run}/${at.task}`;
}

type Fields = Readonly<Record<string, unknown>>;
type Check = (value: unknown) => boolean;

const isSequence: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const isText: Check = (value) => typeof value === "string";
const isHash: Check = (value) => typeof value === "string" && /^[0-9a-f]{64}$/.test(value);

const seen = { sequence: isSequence, subject: isText, hash: isHash };
const checkpoint = { ...seen, size: isSequence, root: isText };
const intent = {
  run: isText,
  task: isText,
  lane: isSequence,
  sequence: isSequence,
  hash: isHash,
  control: isSequence,
  epoch: isSequence,
};

function isRecord(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function fits(value: unknown, shape: Readonly<Record<string, Check>>): boolean {
  return isRecord(value) && Object.entries(shape).every(([name, good]) => good(value[name]));
}

function allFit(value: unknown, shape: Readonly<Record<string, Check>>): boolean {
  return isRecord(value) && Object.values(value).every((entry) => fits(entry, shape));
}

/** Reads the text of a memory file; undefined if it is none of this operator's. */
export function parseRecollection(text: string, operator: string): Recollection | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(value) || value["version"] !== 1 || value["operator"] !== operator) return undefined;
  const { verdict, lanes, intents } = value;
  if (verdict !== undefined && !fits(verdict, seen)) return undefined;
  if (!allFit(lanes, checkpoint) || !allFit(intents, intent)) return undefined;
  return { ...(verdict === undefined ? {} : { verdict }), lanes, intents } as Recollection;
}

export function writeRecollection(recollection: Recollection, operator: string): string {
  return `${JSON.stringify({ version: 1, operator, ...recollection }, undefined, 1)}\n`;
}

/** Of two recollections of one log the one that knows more, entry by entry. */
export function merged(a: Recollection, b: Recollection): Recollection {
  const later = <T extends { readonly sequence: number }>(left: T | undefined, right: T | undefined): T | undefined =>
    left === undefined || (right !== undefined && right.sequence > left.sequence) ? right : left;
  const union = <T extends { readonly sequence: number }>(
    left: Readonly<Record<string, T>>,
    right: Readonly<Record<string, T>>,
  ): Record<string, T> => {
    const all: Record<string, T> = { ...left };
    for (const [name, entry] of Object.entries(right)) all[name] = later(all[name], entry) ?? entry;
    return all;
  };
  const verdict = later(a.verdict, b.verdict);
  return {
    ...(verdict === undefined ? {} : { verdict }),
    lanes: union(a.lanes, b.lanes),
    intents: union(a.intents, b.intents),
  };
}

/**
 * Reads a memory file. A missing one remembers nothing.
 *
 * @throws CandorError `bad-file` if there is one that can't be read: to go on without it would be to forget in silence
 */
export async function readRecollection(path: string, operator: string): Promise<Recollection> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return nothingSeen;
    throw unreadable(path, cause);
  }
  const recollection = parseRecollection(text, operator);
  if (recollection === undefined) throw unreadable(path, undefined);
  return recollection;
}

function unreadable(path: string, cause: unknown): CandorError {
  return new CandorError(
    "bad-file",
    `The orchestrator's memory ${path} can't be read, so a log that was rolled back would go unseen. Restore the file, or move it away to begin anew.`,
    { path, cause },
  );
}
