import { CandorError, hex, type IntentKind, type Payload } from "@candor/contract";
import type { Signer } from "@candor/ledger";
import { signIntent, type SignedIntent } from "./intent.js";
import type { LogClient, TaskAddress } from "./log-client.js";
import type { Memory } from "./memory.js";
import type { RunView } from "./run-view.js";
import { intentLost, isPending, nextPosition, standingOf, storedIntentOf, type Standing } from "./task-line.js";
import { within } from "./time-limit.js";

export interface WriterContext {
  readonly client: LogClient;
  readonly memory: Memory;
  readonly view: RunView;
  readonly signer: Signer;
  readonly fleet: string;
  readonly run: string;
  readonly lane: number;
  /** Longest wait for the guard's word on the last intent before the next is sent, in ms. */
  readonly patienceMs: number;
}

/** What an intent says, once it is known where the task stands. */
export interface Draft<K extends IntentKind> {
  readonly epoch: number;
  readonly payload: Payload<K>;
}

export interface IssuedIntent extends SignedIntent {
  /** Stream sequence in the log. */
  readonly sequence: number;
}

/**
 * Writes the intents of one run. All intents of a task meet on one exact subject, and each is stored only if the last
 * one there is the one that this writer knows (R2).
 */
export class IntentWriter {
  readonly #context: WriterContext;
  /** Tasks whose last publish had no answer: what is stored has to be looked up. */
  readonly #unsure = new Set<string>();

  constructor(context: WriterContext) {
    this.#context = context;
  }

  /** Looks up the last intent of a task, which another replica may have stored. */
  async refresh(task: string): Promise<void> {
    const { client, view } = this.#context;
    const found = await client.lastIntent(this.#address(task));
    if (found !== undefined) view.stored(task, found.intent);
    this.#unsure.delete(task);
  }

  /**
   * Stores the next intent of a task. What the caller decided upon is the task as this process knows it at the call: if
   * anything was stored since, it loses, even to another call in this process.
   *
   * Before it sends, it waits for the guard's word on the last intent, since a rejected one does not count; after
   * `patienceMs` without a word it takes the last one to hold. If that was wrong, the guard rejects this one too, and
   * the next goes right.
   *
   * @param compose makes the payload; it may throw to refuse
   * @param known false: the task is taken to be new, and is not looked up first
   * @throws CandorError `intent-lost` with the winner in its details, `publish-unconfirmed`, `store-full`, `connection-closed`,
   *   `malformed`, `too-large`
   */
  async issue<K extends IntentKind>(
    task: string,
    kind: K,
    compose: (standing: Standing | undefined) => Draft<K>,
    known = true,
  ): Promise<IssuedIntent> {
    const { view, signer, fleet, run } = this.#context;
    if (known) await this.#know(task);
    const start = view.line(task);
    // A task that is taken to be new is new only as long as nothing that holds, or may hold, is known of it.
    const newest = known || standingOf(start) === undefined ? start.newest : 0;
    await this.#untilJudged(task);
    const line = view.line(task);
    if (line.newest !== newest) throw await this.#lostBefore(task, kind);

    const position = nextPosition(line);
    const { epoch, payload } = compose(standingOf(line));
    const signed = signIntent({ kind, run, task, epoch, fleet, position, atMs: Date.now(), payload }, signer);
    const sequence = await this.#store(task, kind, signed, position.expectedSequence);
    view.stored(task, storedIntentOf(signed.event, signed.hash, sequence));
    this.#remember(task, signed, sequence);
    return { ...signed, sequence };
  }

  /** Something was stored between the call and the sending. */
  async #lostBefore(task: string, kind: IntentKind): Promise<CandorError> {
    const { view } = this.#context;
    const { last, newest } = view.line(task);
    if (last?.sequence !== newest) await this.refresh(task);
    const winner = view.line(task).last;
    return winner === undefined ? unnamedLoss(task, kind) : intentLost(task, kind, winner);
  }

  async #store(task: string, kind: IntentKind, { frame }: SignedIntent, expected: number): Promise<number> {
    const { client, view } = this.#context;
    // Until there is an answer, and unless it says that this one is stored, what is stored has to be looked up.
    this.#unsure.add(task);
    const outcome = await client.storeIntent(this.#address(task), frame, expected);
    if (outcome.type === "stored") {
      this.#unsure.delete(task);
      return outcome.sequence;
    }
    const { winner } = outcome;
    if (winner === undefined) throw unnamedLoss(task, kind);
    this.#unsure.delete(task);
    view.stored(task, winner);
    throw intentLost(task, kind, winner);
  }

  /** Looks the last intent up where this process can't know it. */
  async #know(task: string): Promise<void> {
    if (this.#context.view.line(task).last === undefined || this.#unsure.has(task)) await this.refresh(task);
  }

  async #untilJudged(task: string): Promise<void> {
    const { view, patienceMs } = this.#context;
    if (!isPending(view.line(task))) return;
    await within(patienceMs, async (signal) => {
      while (isPending(view.line(task)) && !signal.aborted) await view.changed(task, signal);
    });
  }

  #address(task: string): TaskAddress {
    const { lane, run } = this.#context;
    return { lane, run, task };
  }

  #remember(task: string, { event, hash }: SignedIntent, sequence: number): void {
    const { memory, lane, run } = this.#context;
    const { seq: control, epoch } = event;
    memory.storedIntent({ run, task, lane, sequence, hash: hex(hash), control, epoch });
  }
}

function unnamedLoss(task: string, kind: IntentKind): CandorError {
  return new CandorError(
    "intent-lost",
    `The ${kind} of task ${task} lost to another intent, which can't be read yet. Look at where the task stands, then decide again.`,
  );
}
