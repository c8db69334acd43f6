import { CandorError, type AdmittedEvent, type AdmittedOf, type Payload } from "@candor/contract";
import { admit, verifySignature } from "@candor/ledger";
import type { LiveMessage } from "./ports.js";

/** An intent of the task, authentic. */
export type TaskIntent = { [K in TaskIntentKind]: AdmittedOf<K> }[TaskIntentKind];

const taskKindList = ["delegate", "recall", "terminate", "approve", "close"] as const;
type TaskIntentKind = (typeof taskKindList)[number];
const taskKinds: ReadonlySet<string> = new Set(taskKindList);

export function isTaskIntent(entry: AdmittedEvent): entry is AdmittedEvent & TaskIntent {
  return taskKinds.has(entry.kind);
}

/**
 * Opens a message of an intents' subject.
 *
 * @param fleetKey public key text of the fleet; undefined to leave the signature unchecked
 * @throws CandorError with the code of the first thing that is wrong with it
 */
export function openIntent(message: LiveMessage, fleetKey: string | undefined): AdmittedEvent {
  const entry = admit({ seq: message.sequence, timeMs: 0, subject: message.subject, data: message.data });
  if (entry.type === "refused") {
    const code = entry.code === "unsigned" || entry.code === "wrong-epoch" ? "bad-signature" : entry.code;
    throw new CandorError(code, `The intent at sequence ${message.sequence} is no good: ${entry.sentence}`, {
      ...(entry.path === undefined ? {} : { path: entry.path }),
    });
  }
  if (fleetKey !== undefined && !verifySignature(fleetKey, entry.hash, entry.signature ?? new Uint8Array())) {
    throw new CandorError(
      "bad-signature",
      `The ${entry.kind} at sequence ${message.sequence} is not signed by the fleet that opened the run. It is not acted upon; tell the operator.`,
    );
  }
  return entry;
}

/** Why a task must stop. Each one is worse than those before it. */
export const stopStates = ["recalled", "terminated", "superseded", "closed"] as const;
export type StopState = (typeof stopStates)[number];

export interface Stop {
  readonly state: StopState;
  readonly hash: Uint8Array;
  /** Control number that an acknowledgement answers; undefined where none is due. */
  readonly control: number | undefined;
  /** How long effects under way may take; 0 for none. */
  readonly graceMs: number;
}

const byStanding: Readonly<Record<Payload<"delegate">["standing"]["state"], StopState | undefined>> = {
  delegated: undefined,
  recalled: "recalled",
  terminated: "terminated",
  closed: "closed",
};

/** How long effects may run on under an epoch that is over, where no recall names a window. */
const unaskedGraceMs = 5_000;

/** What an intent means for one epoch: a reason to stop, or undefined for none. Its standing covers those missed. */
export function stopOf(intent: TaskIntent, epoch: number): Stop | undefined {
  const { standing } = intent.payload;
  const { hash } = intent;
  if (standing.epoch > epoch) return { state: "superseded", hash, control: undefined, graceMs: unaskedGraceMs };
  if (standing.epoch < epoch) return undefined;
  const state = byStanding[standing.state];
  if (state === undefined) return undefined;
  const answers = (intent.kind === "recall" || intent.kind === "terminate") && intent.event.epoch === epoch;
  return {
    state,
    hash,
    control: answers ? intent.event.seq : undefined,
    graceMs: intent.kind === "recall" ? intent.payload.graceMs : state === "closed" ? unaskedGraceMs : 0,
  };
}

/** The error that calls end with once the task must stop. */
export function stopError(state: StopState): CandorError {
  const [code, message] = stopTexts[state];
  return new CandorError(code, message, { details: { state } });
}

const stopTexts = {
  recalled: ["recalled", "The orchestrator recalled this task: start nothing new and return."],
  terminated: ["recalled", "The orchestrator terminated this task: stop at once."],
  superseded: ["fenced", "The task was delegated anew, so this epoch is over: stop, another process has it."],
  closed: ["task-over", "The orchestrator closed this task: stop."],
} as const satisfies Record<StopState, readonly ["recalled" | "fenced" | "task-over", string]>;
