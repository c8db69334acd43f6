import {
  decodeQuarantineBody,
  decodeSigned,
  decodeVerdictBody,
  isCandorError,
  parseVerdictSubject,
  type StoredMessage,
} from "@candor/contract";
import { admit, readCheckpoint } from "@candor/ledger";
import { sentenceOf } from "../story/sentence.js";
import type { ProseKey } from "../story/prose.js";

/** One thing that happened, for people and programs that look on. */
export interface TailLine {
  readonly stream: "log" | "verdicts";
  readonly seq: number;
  /** When the server stored it, in ms. */
  readonly atMs: number;
  readonly lane: number;
  readonly run?: string;
  readonly task?: string;
  readonly by?: string;
  /** Kind of the event, or verdict, quarantine, checkpoint. */
  readonly kind: string;
  readonly what: string;
  /** Action of a verdict. */
  readonly action?: string;
}

/** A live view opens no prose: `task show` does. */
const sealedProse: ProseKey = { state: "withheld" };

function laneIn(subject: string): number {
  return Number(subject.split(".")[2]);
}

/** A message of the log as a line. */
export function logLine(message: StoredMessage): TailLine {
  const { seq, timeMs: atMs, subject } = message;
  const [, , , run = "", task = "", role = ""] = subject.split(".");
  const entry = admit(message);
  const place = {
    stream: "log",
    seq,
    atMs,
    lane: laneIn(subject),
    run,
    task,
    by: `${role} ${entry.actorToken}`,
  } as const;
  if (entry.type === "event") return { ...place, kind: entry.kind, what: sentenceOf(entry, sealedProse) };
  return { ...place, kind: "refused", what: `${entry.code}: ${entry.sentence}` };
}

function recordLine({ seq, timeMs: atMs, subject, data }: StoredMessage): TailLine {
  const place = { stream: "verdicts", seq, atMs, lane: laneIn(subject) } as const;
  if (subject.startsWith("candor.checkpoint.")) {
    const { size, position } = readCheckpoint(new TextDecoder().decode(data));
    return { ...place, kind: "checkpoint", what: `${size} messages, up to sequence ${position}` };
  }
  const { body, certificate } = decodeSigned(data);
  const by = `guard ${certificate.name}`;
  const address = parseVerdictSubject(subject);
  if (address === undefined) {
    const { code, seq: about, sentence, subject: of } = decodeQuarantineBody(body);
    const [, , , run = "", task = ""] = of.split(".");
    return { ...place, by, run, task, kind: "quarantine", what: `${code} at sequence ${about}: ${sentence}` };
  }
  const { verdict, action, final, sentence, judge } = decodeVerdictBody(body);
  const what = `${judge}: ${verdict}, ${action}${final ? "" : " (not final)"}: ${sentence}`;
  return { ...place, by, run: address.run, task: address.task, kind: "verdict", action, what };
}

/** A message of the verdict stream as a line. */
export function verdictLine(message: StoredMessage): TailLine {
  try {
    return recordLine(message);
  } catch (error) {
    if (!isCandorError(error)) throw error;
    const { seq, timeMs: atMs, subject } = message;
    return { stream: "verdicts", seq, atMs, lane: laneIn(subject), kind: "unreadable", what: error.message };
  }
}
