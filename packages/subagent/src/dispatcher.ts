import { CandorError, type EffectPhase, type Logger } from "@candor/contract";
import type { Control } from "./control.js";
import type { EffectBook } from "./effect-book.js";
import { inDoubt, type Planned } from "./effect-plan.js";
import type { Recorded } from "./event-draft.js";
import type { Claim, IntentKeys } from "./intent-keys.js";
import { within } from "./pause.js";
import type { Recorder } from "./recorder.js";
import type { TaskDesk } from "./task-desk.js";

export interface DispatcherOptions {
  readonly desk: Pick<TaskDesk, "requireUnreported">;
  readonly recorder: Recorder;
  readonly book: EffectBook;
  readonly keys: IntentKeys;
  readonly control: Control;
  /** How long a dispatch may take to be stored before the effect is given up, in ms. */
  readonly dispatchMs: number;
  readonly logger: Logger;
}

/** What came of a dispatch. */
export interface OutcomeFacts {
  readonly phase: Exclude<EffectPhase, "dispatched" | "compensated">;
  readonly dispatch: number;
  readonly identifiers?: Readonly<Record<string, string>>;
  /** The effect's code read the key that it was given. */
  readonly keyRead?: boolean;
}

/** How often a dispatch that the fence refused is tried again, where the intent behind it did not count. */
const mostFences = 3;

/** Stores dispatches behind the fence, their keys claimed in the same breath, and what came of them (F7). */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #callingOff = new Set<Promise<void>>();
  /** Minted keys that were claimed to be dispatched, in this process. */
  readonly #claimed = new Set<string>();

  constructor(options: DispatcherOptions) {
    this.#options = options;
  }

  /** Waits until no dispatch is open that was given up. */
  async settled(): Promise<void> {
    while (this.#callingOff.size > 0) await Promise.allSettled(this.#callingOff);
  }

  /**
   * Writes down under which claimed keys certainly nothing happened, so that a later epoch may do it: effects that were
   * turned away or did not run, and dispatches that the fence refused. Only when nothing more can be dispatched.
   */
  voidClaims(minted: Iterable<string>): void {
    const { book, keys, recorder } = this.#options;
    for (const key of new Set([...minted, ...book.memberKeys, ...this.#claimed])) {
      const phase = book.lastOf(key)?.phase;
      const isRefused = phase === undefined && this.#claimed.has(key) && !recorder.isUnsure;
      const isNothing = phase === "failed" || phase === "not-run" || isRefused;
      if (isNothing && book.openUnder(key).length === 0) keys.void(key);
    }
  }

  /**
   * Resolves with the number of the dispatch once the effect may run.
   * @throws CandorError `fenced`, `recalled`, `task-over`, `intent-key-in-doubt`, `publish-unconfirmed`, `too-large`
   */
  async dispatch(plan: Planned): Promise<number> {
    for (let round = 1; ; round += 1) {
      const dispatch = await this.#once(plan);
      if (dispatch !== undefined) return dispatch;
      // The intent that broke the fence may not have come by live delivery yet.
      await this.#options.control.refresh();
      this.#options.control.requireRunning();
      if (round === mostFences) {
        throw new CandorError(
          "fenced",
          `New intents kept coming while ${plan.intent} was to be dispatched. It did not run.`,
        );
      }
    }
  }

  /**
   * Tells what came of a dispatch.
   * @param alongside called right after it was handed over to be sent, for what is to reach the server with it
   */
  outcome(plan: Planned, facts: OutcomeFacts, alongside?: () => void): Promise<Recorded> {
    const { phase, dispatch, identifiers = {}, keyRead } = facts;
    const { intent, key, target, covers, member } = plan;
    const outcome = {
      phase,
      intent,
      key,
      target,
      dispatch,
      ...(Object.keys(identifiers).length === 0 ? {} : { identifiers: { ...identifiers } }),
      ...(covers === undefined ? {} : { covers }),
      ...(member === undefined ? {} : { member }),
      ...(plan.minted && keyRead === false ? { keyUnread: true as const } : {}),
    };
    return this.#options.recorder.record("effect", outcome, alongside);
  }

  /** Undefined if the fence refused it. Claim and dispatch go out together. */
  async #once(plan: Planned): Promise<number | undefined> {
    const { desk, recorder, book, control, keys, dispatchMs } = this.#options;
    const { intent, key, target, covers, member } = plan;
    let claim: Promise<Claim> = Promise.resolve("held");
    const recording = recorder.recordBehind(
      "effect",
      {
        phase: "dispatched",
        intent,
        key,
        target,
        ...(plan.arguments === undefined ? {} : { arguments: plan.arguments }),
        ...(covers === undefined ? {} : { covers }),
        ...(member === undefined ? {} : { member }),
      },
      async () => {
        desk.requireUnreported();
        book.requireRoom(plan);
        return await control.fence();
      },
      dispatchMs,
      () => {
        if (!plan.minted) return;
        this.#claimed.add(key);
        claim = keys.claim(key, plan.arguments, dispatchMs);
        claim.catch(() => undefined);
      },
    );
    const recorded = await within(recording, dispatchMs * 2);
    if (recorded === undefined) {
      this.#callOffLater(plan, recording);
      throw new CandorError(
        "publish-unconfirmed",
        `The dispatch of ${intent} was not confirmed in time, so the effect did not run. Check that the server runs, then try again.`,
      );
    }
    if (recorded.value === undefined) return undefined;
    const { seq } = recorded.value;
    try {
      if ((await claim) === "lost") throw inDoubt(plan, "another process");
      // A recall that came while the dispatch was under way: stored before it, but nothing has run yet.
      control.requireRunning();
    } catch (error) {
      await this.outcome(plan, { phase: "not-run", dispatch: seq });
      throw error;
    }
    return seq;
  }

  /** A dispatch that was given up may still be found stored: then the log learns that nothing ran. */
  #callOffLater(plan: Planned, recording: Promise<{ readonly seq: number } | undefined>): void {
    const { logger } = this.#options;
    const callingOff = recording
      .then(async (late) => {
        if (late !== undefined) await this.outcome(plan, { phase: "not-run", dispatch: late.seq });
      })
      .catch((error: unknown) => {
        logger.warn({ intent: plan.intent, error }, "a dispatch that was given up could not be called off");
      })
      .finally(() => this.#callingOff.delete(callingOff));
    this.#callingOff.add(callingOff);
  }
}
