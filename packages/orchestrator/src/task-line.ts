import {
  CandorError,
  decodePayload,
  hex,
  zeroHash,
  type EventBody,
  type IntentKind,
  type VerdictBody,
} from "@candor/contract";
import { intentTransitions, type Standing as GuardsStanding, type TaskIntentKind } from "@candor/guards";

/** States that a task's last good intent leaves it in. */
export type TaskState = GuardsStanding;

export interface Standing {
  readonly epoch: number;
  readonly state: TaskState;
}

/** An intent as it lies on the task's subject. */
export interface StoredIntent {
  /** Its stream sequence in the log. */
  readonly sequence: number;
  readonly kind: IntentKind;
  readonly control: number;
  readonly epoch: number;
  readonly hash: Uint8Array;
  readonly actor: string;
  /** Its author's clock, in ms. */
  readonly atMs: number;
  /** Name of the agent that a delegation names. */
  readonly agent?: string;
}

/** The end of the chain of intents that hold. */
export interface LineHead {
  readonly sequence: number;
  readonly control: number;
  readonly kind: string;
  readonly epoch: number;
  readonly hash: Uint8Array;
}

/**
 * What a writer knows of one task's intents: the last one stored, and what the guard said of them.
 * The two differ when an intent was stored but rejected, and then the next one re-uses its control number.
 */
export interface TaskLine {
  readonly last: StoredIntent | undefined;
  readonly accepted: LineHead | undefined;
  /** By the hex of an intent's hash: whether the guard took it. */
  readonly judged: ReadonlyMap<string, boolean>;
  /** Log sequences of messages on the task's subject that were put into quarantine: they are no intents at all. */
  readonly refused: ReadonlySet<number>;
  /** Highest log sequence that is known to lie on the task's subject; 0 for none. */
  readonly newest: number;
}

export const emptyLine: TaskLine = {
  last: undefined,
  accepted: undefined,
  judged: new Map(),
  refused: new Set(),
  newest: 0,
};

/** Takes note of a stored intent; an older one than is known changes nothing. */
export function withStored(line: TaskLine, intent: StoredIntent): TaskLine {
  if (line.last !== undefined && line.last.sequence >= intent.sequence) return line;
  return { ...line, last: intent, newest: Math.max(line.newest, intent.sequence) };
}

/** Takes note of a verdict of judge `intent`. That a repeat was rejected does not undo the intent it repeats. */
export function withJudgement(
  line: TaskLine,
  { verdict, epoch, intent, cause }: Pick<VerdictBody, "verdict" | "epoch" | "intent" | "cause">,
): TaskLine {
  if (intent === undefined) return line;
  const newest = Math.max(line.newest, cause.last);
  const accepted = verdict === "INTENT_ACCEPTED";
  const key = hex(intent.hash);
  if (!accepted && line.judged.get(key) === true) return { ...line, newest };
  const judged = new Map(line.judged).set(key, accepted);
  if (!accepted || intent.control <= (line.accepted?.control ?? 0)) return { ...line, judged, newest };
  const head = { ...intent, hash: intent.hash.slice(), epoch, sequence: cause.last };
  return { ...line, judged, newest, accepted: head };
}

/** Takes note that the message at a log sequence was put into quarantine. */
export function withRefusal(line: TaskLine, sequence: number): TaskLine {
  return { ...line, refused: new Set(line.refused).add(sequence), newest: Math.max(line.newest, sequence) };
}

/** True while the guard has not spoken on the last stored intent. */
export function isPending(line: TaskLine): boolean {
  const { last } = line;
  return last !== undefined && !line.refused.has(last.sequence) && !line.judged.has(hex(last.hash));
}

/** What the guard said of an intent; undefined while it has not spoken. */
export function judgementOf(
  line: TaskLine,
  intent: { readonly sequence: number; readonly hash: Uint8Array },
): boolean | undefined {
  return line.refused.has(intent.sequence) ? false : line.judged.get(hex(intent.hash));
}

/** The intent that the next one follows. One that is not judged yet is taken to hold. */
export function headOf(line: TaskLine): LineHead | undefined {
  const { last, accepted } = line;
  if (last === undefined || !isPending(line)) return accepted;
  return accepted !== undefined && accepted.control >= last.control ? accepted : last;
}

export interface Position {
  readonly control: number;
  readonly prev: Uint8Array;
  /** Stream sequence of the last intent on the subject, held or not: what the compare-and-set expects. */
  readonly expectedSequence: number;
}

/** Where the next intent of the task goes. */
export function nextPosition(line: TaskLine): Position {
  const head = headOf(line);
  return {
    control: (head?.control ?? 0) + 1,
    prev: head?.hash ?? zeroHash,
    expectedSequence: line.newest,
  };
}

function stateAfter(kind: string): TaskState | undefined {
  return Object.hasOwn(intentTransitions, kind) ? intentTransitions[kind as TaskIntentKind].to : undefined;
}

/** Epoch and state that a task stands in; undefined before its first delegation. */
export function standingOf(line: TaskLine): Standing | undefined {
  const head = headOf(line);
  const state = head === undefined ? undefined : stateAfter(head.kind);
  return head === undefined || state === undefined ? undefined : { epoch: head.epoch, state };
}

/**
 * The intent that an event is, at the sequence where it was stored.
 *
 * @throws CandorError `malformed` for a delegation that does not fit its schema
 */
export function storedIntentOf(event: EventBody, hash: Uint8Array, sequence: number): StoredIntent {
  const { kind, seq, epoch, actor, at, payload } = event;
  const agent = kind === "delegate" ? { agent: decodePayload(kind, payload).agent.actor } : {};
  return { sequence, kind: kind as IntentKind, control: seq, epoch, hash, actor, atMs: at, ...agent };
}

/** The typed error of an orchestrator that lost the compare-and-set; its details name the winner. */
export function intentLost(task: string, kind: IntentKind, winner: StoredIntent): CandorError {
  return new CandorError(
    "intent-lost",
    `The ${kind} of task ${task} lost: ${winner.actor} stored a ${winner.kind} as control number ${winner.control} first. Look at where the task stands now, then decide again.`,
    {
      details: {
        winner: {
          kind: winner.kind,
          control: winner.control,
          epoch: winner.epoch,
          actor: winner.actor,
          atMs: winner.atMs,
          sequence: winner.sequence,
        },
      },
    },
  );
}
