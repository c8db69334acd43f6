import { CandorError, isCandorError, type Logger, type Mode, type Payload } from "@candor/contract";
import type { Control } from "./control.js";
import type { EffectBook } from "./effect-book.js";
import {
  firstResult,
  inDoubt,
  planEffect,
  requireSameArguments,
  type EffectOptions,
  type Planned,
} from "./effect-plan.js";
import { inRow } from "./effect-row.js";
import { encryptJson } from "./encrypted-json.js";
import { toFailure } from "./failure.js";
import { fittingIdentifiers } from "./identifiers.js";
import type { Inherited } from "./inheritance.js";
import type { Claim, IntentKeys } from "./intent-keys.js";
import { within } from "./pause.js";
import type { Recorder } from "./recorder.js";
import type { SpoolContent } from "./spool/spool-content.js";
import type { SpoolRecord } from "./spool/spool-record.js";
import type { TaskDesk } from "./task-desk.js";

/** One effect under way. */
export interface EffectCall {
  /** For the downstream, as idempotency key. */
  readonly key: string;
  /**
   * Aborted when the effect must end: at a termination, or when the window of a recall is over. A recall alone lets it
   * run on, since an effect that is cut off is in doubt.
   */
  readonly signal: AbortSignal;
  /**
   * Identifiers that both sides share: record key, message id, what the downstream returned (F6). At most 16, of up to 256
   * characters; what does not fit is cut or left out, since a report of an effect must not fail over it.
   */
  identify(identifiers: Readonly<Record<string, string>>): void;
}

export interface EffectsOptions {
  readonly desk: TaskDesk;
  readonly recorder: Recorder;
  readonly book: EffectBook;
  readonly keys: IntentKeys;
  readonly control: Control;
  readonly spool: { readonly content: SpoolContent; write(record: SpoolRecord): void };
  readonly dataKey: Uint8Array;
  readonly mode: Mode;
  readonly minted: Payload<"delegate">["intents"];
  readonly inherited: ReadonlyMap<string, Inherited>;
  /** How long a dispatch may take to be stored before the effect is given up, in ms. */
  readonly dispatchMs: number;
  readonly logger: Logger;
}

interface Running {
  readonly arguments: Uint8Array | undefined;
  readonly result: Promise<unknown>;
}

/** How often a dispatch that the fence refused is tried again, where the intent behind it did not count. */
const mostFences = 3;

/**
 * Runs effects: each only after its `dispatched` event is stored behind the fence and its intent key is claimed, and
 * each once, however often it is asked for (F7).
 */
export class Effects {
  readonly #options: EffectsOptions;
  readonly #running = new Map<string, Running>();
  readonly #callingOff = new Set<Promise<void>>();
  /** Minted keys that were claimed to be dispatched, in this process. */
  readonly #claimed = new Set<string>();

  constructor(options: EffectsOptions) {
    this.#options = options;
  }

  /** Waits until no dispatch is open that was given up. Effects under way are calls of the desk. */
  async settled(): Promise<void> {
    while (this.#callingOff.size > 0) await Promise.allSettled(this.#callingOff);
  }

  /**
   * Writes down under which claimed keys certainly nothing happened, so that a later epoch may do it: effects that were
   * turned away or did not run, and dispatches that the fence refused. Only when nothing more can be dispatched.
   */
  voidClaims(): void {
    const { book, keys, minted, recorder } = this.#options;
    for (const { key } of minted) {
      const phase = book.lastOf(key)?.phase;
      const isRefused = phase === undefined && this.#claimed.has(key) && !recorder.isUnsure;
      if (phase === "failed" || phase === "not-run" || isRefused) keys.void(key);
    }
  }

  /** @see TaskContext.effect */
  async run<T>(options: EffectOptions, call: (effect: EffectCall) => Promise<T> | T): Promise<T> {
    const { desk } = this.#options;
    desk.requireRunning();
    desk.coverage.expect(options.covers);
    desk.work.calls += 1;
    return await desk.calls.follow({ operation: options.intent, covers: options.covers }, () =>
      this.#counted(options, call),
    );
  }

  async #counted<T>(options: EffectOptions, call: (effect: EffectCall) => Promise<T> | T): Promise<T> {
    const { desk } = this.#options;
    try {
      const result = await inRow(desk, options, () => this.#once(options, call));
      desk.work.succeeded += 1;
      desk.coverage.observe(options.covers, "done");
      return result;
    } catch (error) {
      desk.coverage.observe(options.covers, "failed");
      throw error;
    }
  }

  async #once<T>(options: EffectOptions, call: (effect: EffectCall) => Promise<T> | T): Promise<T> {
    const { result } = await this.#refusing(options, () => ({ result: this.#begin(options, call) }));
    return await result;
  }

  /** Looks and begins in one go, so that of two calls at once one begins. */
  #begin<T>(options: EffectOptions, call: (effect: EffectCall) => Promise<T> | T): Promise<T> {
    const { minted, mode, book, spool, inherited, dataKey } = this.#options;
    const plan = planEffect(options, minted, mode);
    const running = this.#running.get(plan.key);
    if (running !== undefined) {
      requireSameArguments(plan, running.arguments);
      return running.result as Promise<T>;
    }
    const first = firstResult(plan, {
      last: book.lastOf(plan.key),
      result: spool.content.results.get(plan.key)?.result,
      inherited: inherited.get(plan.key),
      dataKey,
    });
    if (first !== undefined) return Promise.resolve(first.value as T);
    const result = this.#perform(plan, options, call).finally(() => {
      this.#running.delete(plan.key);
    });
    this.#running.set(plan.key, { arguments: plan.arguments, result });
    return result;
  }

  async #perform<T>(plan: Planned, options: EffectOptions, call: (effect: EffectCall) => Promise<T> | T): Promise<T> {
    const dispatch = await this.#dispatch(plan, options);
    const identifiers: Record<string, string> = {};
    let value: T;
    try {
      value = await call({
        key: plan.key,
        signal: this.#options.control.cutSignal,
        identify: (more) => Object.assign(identifiers, fittingIdentifiers(more)),
      });
    } catch (error) {
      const failure = toFailure(error, options.classify);
      await this.#outcome(plan, dispatch, failure.mayHaveHappened ? "in-doubt" : "failed", identifiers);
      await this.#options.desk.faults.failure(error, failure, placeOf(plan));
      throw error;
    }
    await this.#commit(plan, dispatch, value, identifiers);
    return value;
  }

  /** Resolves with the number of the dispatch once the effect may run. */
  async #dispatch(plan: Planned, options: EffectOptions): Promise<number> {
    return await this.#refusing(options, async () => {
      for (let round = 1; ; round += 1) {
        const dispatch = await this.#dispatchOnce(plan);
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
    });
  }

  /** Undefined if the fence refused it. Claim and dispatch go out together. */
  async #dispatchOnce(plan: Planned): Promise<number | undefined> {
    const { desk, recorder, book, control, keys, dispatchMs } = this.#options;
    const { intent, key, target, covers } = plan;
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
      },
      async () => {
        desk.requireUnreported();
        book.requireRoom(plan);
        const fence = await control.fence();
        if (plan.minted) {
          this.#claimed.add(key);
          claim = keys.claim(key, dispatchMs);
        }
        claim.catch(() => undefined);
        return fence;
      },
      dispatchMs,
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
      await this.#outcome(plan, seq, "not-run", {});
      throw error;
    }
    return seq;
  }

  /** A dispatch that was given up may still be found stored: then the log learns that nothing ran. */
  #callOffLater(plan: Planned, recording: Promise<{ readonly seq: number } | undefined>): void {
    const { logger } = this.#options;
    const callingOff = recording
      .then(async (late) => {
        if (late !== undefined) await this.#outcome(plan, late.seq, "not-run", {});
      })
      .catch((error: unknown) => {
        logger.warn({ intent: plan.intent, error }, "a dispatch that was given up could not be called off");
      })
      .finally(() => this.#callingOff.delete(callingOff));
    this.#callingOff.add(callingOff);
  }

  async #commit(plan: Planned, dispatch: number, value: unknown, identifiers: Record<string, string>): Promise<void> {
    const { spool, dataKey, keys } = this.#options;
    const result = encryptJson(value, dataKey);
    if (result !== undefined) {
      spool.write({ type: "result", key: plan.key, dispatch, result });
      spool.content.results.set(plan.key, { dispatch, result });
    }
    await this.#outcome(plan, dispatch, "committed", identifiers);
    if (!plan.minted) return;
    keys.settle(plan.key, { dispatch, identifiers, arguments: plan.arguments, result }, () => {
      spool.write({ type: "done", key: plan.key });
    });
  }

  async #outcome(
    plan: Planned,
    dispatch: number,
    phase: "committed" | "failed" | "not-run" | "in-doubt",
    identifiers: Readonly<Record<string, string>>,
  ): Promise<void> {
    const { intent, key, target, covers } = plan;
    await this.#options.recorder.record("effect", {
      phase,
      intent,
      key,
      target,
      dispatch,
      ...(Object.keys(identifiers).length === 0 ? {} : { identifiers: { ...identifiers } }),
      ...(covers === undefined ? {} : { covers }),
    });
  }

  /** Records a refusal of our own as the error that it is, and passes it on. What stops the task is told by the recall. */
  async #refusing<T>(options: EffectOptions, run: () => Promise<T> | T): Promise<T> {
    try {
      return await run();
    } catch (error) {
      const { desk, control, logger } = this.#options;
      if (control.stop !== undefined) throw error;
      const told = desk.faults.failure(error, toFailure(error), { operation: options.intent, covers: options.covers });
      // A dispatch that hangs holds the chain up: its failure is told behind it, but not waited for.
      if (!isCandorError(error, "publish-unconfirmed")) await told;
      else told.catch((cause: unknown) => { logger.warn({ error: cause }, "an error could not be recorded"); }); // prettier-ignore
      throw error;
    }
  }
}

function placeOf({ intent, target, covers }: Planned): {
  operation: string;
  upstream: string;
  covers: string | undefined;
} {
  return { operation: intent, upstream: target, covers };
}
