import { isCandorError, type Logger, type Mode } from "@candor/contract";
import { currentAttempt } from "./attempt-scope.js";
import type { Control } from "./control.js";
import type { Dispatcher } from "./dispatcher.js";
import type { Doubts } from "./doubts.js";
import type { EffectBook } from "./effect-book.js";
import {
  firstResult,
  nameEffect,
  planEffect,
  requireSameArguments,
  type EffectOptions,
  type MintedKeys,
  type NamedEffect,
  type Planned,
} from "./effect-plan.js";
import { inRow } from "./effect-row.js";
import { ResultCipher } from "./encrypted-json.js";
import { toFailure } from "./failure.js";
import { fittingIdentifiers } from "./identifiers.js";
import type { Inheritance } from "./inheritance.js";
import type { IntentKeys } from "./intent-keys.js";
import { within } from "./pause.js";
import type { Recorder } from "./recorder.js";
import type { RecorderSpool } from "./recorder-spool.js";
import type { TaskDesk } from "./task-desk.js";

/** One effect under way. */
export interface EffectCall {
  /** For the downstream, as idempotency key. A key that the effect's code never reads is a finding. */
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
  readonly spool: Pick<RecorderSpool, "content" | "write" | "note">;
  readonly dataKey: Uint8Array;
  readonly mode: Mode;
  readonly minted: MintedKeys;
  readonly inheritance: Inheritance;
  readonly dispatcher: Dispatcher;
  readonly doubts: Doubts;
  /** How long an effect that is done waits for the log and the keys to have it, in ms. */
  readonly settleMs: number;
  readonly logger: Logger;
}

/** An effect that is asked for, by its name. */
type Asked = EffectOptions & NamedEffect;
type Run<T> = (effect: EffectCall) => Promise<T> | T;

interface Running {
  readonly arguments: Uint8Array | undefined;
  readonly result: Promise<unknown>;
}

/**
 * Runs effects: each only after its `dispatched` event is stored behind the fence and its intent key is claimed, and
 * each once, however often it is asked for (F7).
 */
export class Effects {
  readonly #options: EffectsOptions;
  readonly #running = new Map<string, Running>();
  readonly #cipher: ResultCipher;

  constructor(options: EffectsOptions) {
    this.#options = options;
    this.#cipher = new ResultCipher(options.dataKey);
  }

  /** Waits until no dispatch is open that was given up. Effects under way are calls of the desk. */
  settled(): Promise<void> {
    return this.#options.dispatcher.settled();
  }

  /** Writes down under which keys nothing happened. Only when nothing more can be dispatched. */
  voidClaims(): void {
    const { dispatcher, minted } = this.#options;
    dispatcher.voidClaims([...minted.values()].map(({ key }) => key));
  }

  /** @see TaskContext.effect */
  async run<T>(asked: EffectOptions, call: Run<T>): Promise<T> {
    const { desk, minted, dataKey } = this.#options;
    const options = { ...asked, ...nameEffect(asked, minted, dataKey) };
    desk.requireRunning();
    desk.coverage.expect(options.covers);
    desk.work.calls += 1;
    return await desk.calls.follow({ operation: options.intent, covers: options.covers }, () =>
      this.#counted(options, call),
    );
  }

  async #counted<T>(options: Asked, call: Run<T>): Promise<T> {
    const { desk } = this.#options;
    try {
      const result = await inRow(desk, { operation: options.operation, target: options.target }, () =>
        this.#once(options, call),
      );
      desk.work.succeeded += 1;
      desk.coverage.observe(options.covers, "done");
      return result;
    } catch (error) {
      desk.coverage.observe(options.covers, "failed");
      throw error;
    }
  }

  async #once<T>(options: Asked, call: Run<T>): Promise<T> {
    const { result } = await this.#refusing(options, () => ({ result: this.#begin(options, call) }));
    return await result;
  }

  /** Looks and begins in one go, so that of two calls at once one begins. */
  #begin<T>(options: Asked, call: Run<T>): Promise<T> {
    const { minted, mode, dataKey } = this.#options;
    const plan = planEffect(options, minted, mode, dataKey);
    const running = this.#running.get(plan.key);
    if (running !== undefined) {
      this.#requireSame(plan, running.arguments);
      return running.result as Promise<T>;
    }
    const result = this.#resultOf(plan, options, call).finally(() => {
      this.#running.delete(plan.key);
    });
    this.#running.set(plan.key, { arguments: plan.arguments, result });
    return result;
  }

  /** What the key came to before, else what the effect comes to now. */
  async #resultOf<T>(plan: Planned, options: Asked, call: Run<T>): Promise<T> {
    const found = await this.#refusing(options, () => this.#before(plan, options));
    if (found !== undefined) return found.value as T;
    const dispatching = this.#refusing(options, () => this.#options.dispatcher.dispatch(plan));
    // By then it is under way.
    setImmediate(() => {
      this.#cipher.prepare();
    });
    const dispatch = await dispatching;
    return await this.#perform(plan, dispatch, options, call);
  }

  async #before(plan: Planned, options: EffectOptions): Promise<{ readonly value: unknown } | undefined> {
    const { book, spool, inheritance, doubts, dataKey } = this.#options;
    const left = inheritance.of(plan.key);
    const inherited = left instanceof Promise ? await left : left;
    const last = book.lastOf(plan.key);
    const result = spool.content.results.get(plan.key)?.result;
    const [open] = book.openUnder(plan.key);
    const found = this.#refused(plan, () => firstResult(plan, { last, open, result, inherited, dataKey }));
    if (found.state === "fresh") {
      await doubts.tellNothing(plan);
      return undefined;
    }
    if (found.state === "done") {
      // A process that ended in between may have told of the repeat, and not yet of what it repeats.
      if (last !== undefined) await this.#clear(plan, last.dispatch, last.identifiers);
      return found;
    }
    const answer = await doubts.resolve(plan, found, options.probe);
    if (answer === undefined) return undefined;
    await this.#settle(plan, open?.dispatch ?? 0, answer.result, answer.identifiers ?? {});
    return { value: answer.result };
  }

  async #perform<T>(plan: Planned, dispatch: number, options: Asked, call: Run<T>): Promise<T> {
    const { dispatcher, desk, control } = this.#options;
    const scope = currentAttempt();
    const count = (ok: boolean): void => {
      // Within a call to the same upstream it is that one's try.
      if (scope?.layer?.upstream === plan.target) return;
      desk.counts.use(plan.target, { isFirst: (scope?.attempt ?? 1) === 1, tries: 1, ok });
    };
    let identifiers: Readonly<Record<string, string>> = {};
    let keyRead = false;
    let value: T;
    try {
      value = await call({
        get key() {
          keyRead = true;
          return plan.key;
        },
        signal: control.cutSignal,
        identify: (more) => {
          identifiers = fittingIdentifiers(more, identifiers);
        },
      });
      count(true);
    } catch (error) {
      count(false);
      const failure = toFailure(error, options.classify);
      const phase = failure.mayHaveHappened ? "in-doubt" : "failed";
      await dispatcher.outcome(plan, { phase, dispatch, identifiers, keyRead });
      const { target: upstream, covers } = plan;
      await desk.faults.failure(error, failure, { operation: options.operation, upstream, covers });
      throw error;
    }
    await this.#commit(plan, { dispatch, value, identifiers, keyRead });
    return value;
  }

  /** Outcome and result go out together; what does not get through in time goes on in the background. */
  async #commit(
    plan: Planned,
    done: {
      readonly dispatch: number;
      readonly value: unknown;
      readonly identifiers: Readonly<Record<string, string>>;
      readonly keyRead: boolean;
    },
  ): Promise<void> {
    const { dispatcher, recorder, settleMs } = this.#options;
    const { dispatch, value, identifiers, keyRead } = done;
    this.#keep(plan, dispatch, value, "with the outcome");
    const outcome = { phase: "committed", dispatch, identifiers, keyRead } as const;
    const write = this.#prepare(plan, dispatch, identifiers);
    let settled: Promise<void> | undefined;
    // Where nothing else is to be told first, both reach the server in one breath.
    const alongside = this.#isAlone(plan, dispatch) ? () => { settled = write(); } : undefined; // prettier-ignore
    const { seq } = await dispatcher.outcome(plan, outcome, alongside);
    if (settled === undefined) await this.#clear(plan, dispatch, identifiers);
    settled ??= write();
    await within(Promise.all([recorder.stored(seq), settled]), settleMs);
  }

  /** True if the outcome of this dispatch says all that there is to say of its key. */
  #isAlone(plan: Planned, dispatch: number): boolean {
    const { book, inheritance } = this.#options;
    if (plan.inDoubt !== "reissue") return true;
    const inherited = inheritance.of(plan.key);
    if (inherited instanceof Promise) return false;
    return inherited?.state !== "in-doubt" && book.openUnder(plan.key).every((open) => open.dispatch === dispatch);
  }

  /** A look-up found it done. */
  async #settle(
    plan: Planned,
    dispatch: number,
    value: unknown,
    identifiers: Readonly<Record<string, string>>,
  ): Promise<void> {
    this.#keep(plan, dispatch, value, "now");
    const result = this.#options.spool.content.results.get(plan.key)?.result;
    this.#options.inheritance.clear(plan.key, { dispatch, identifiers, arguments: plan.arguments, result });
    await within(this.#prepare(plan, dispatch, identifiers)(), this.#options.settleMs);
  }

  /** @param when whether the spool takes it at once, or in one go with the outcome that is recorded next */
  #keep(plan: Planned, dispatch: number, value: unknown, when: "now" | "with the outcome"): void {
    const { spool } = this.#options;
    const result = this.#cipher.encrypt(value);
    if (result === undefined) return;
    const record = { type: "result", key: plan.key, dispatch, result } as const;
    if (when === "now") spool.write(record);
    else spool.note(record);
    spool.content.results.set(plan.key, { dispatch, result });
  }

  /** What writes the key's result down, for the next who meets the key. */
  #prepare(plan: Planned, dispatch: number, identifiers: Readonly<Record<string, string>>): () => Promise<void> {
    const { spool, keys } = this.#options;
    if (!plan.minted) return () => Promise.resolve();
    const result = spool.content.results.get(plan.key)?.result;
    const settle = keys.prepare(plan.key, { dispatch, identifiers, arguments: plan.arguments, result });
    return () =>
      settle(() => {
        spool.note({ type: "done", key: plan.key });
      });
  }

  /** What a repeat came to is what all came to that were dispatched before it, here and in earlier epochs. */
  async #clear(plan: Planned, dispatch: number, identifiers: Readonly<Record<string, string>>): Promise<void> {
    const { book, inheritance, doubts } = this.#options;
    if (plan.inDoubt !== "reissue") return;
    const inherited = await inheritance.of(plan.key);
    if (inherited?.state !== "in-doubt" && book.openUnder(plan.key).length === 0) return;
    await doubts.tell(plan, "committed", identifiers);
    inheritance.clear(plan.key, { dispatch, identifiers });
  }

  #requireSame(plan: Planned, first: Uint8Array | undefined): void {
    this.#refused(plan, () => {
      requireSameArguments(plan, first);
    });
  }

  /** One key with a second meaning is refused, and the log tells which it was to have: the guard finds it there. */
  #refused<T>(plan: Planned, run: () => T): T {
    try {
      return run();
    } catch (error) {
      const { recorder, logger } = this.#options;
      if (isCandorError(error, "intent-key-reuse")) {
        const { intent, key, target, arguments: digest, member } = plan;
        const refused = { phase: "not-run" as const, intent, key, target };
        const told = recorder.record("effect", {
          ...refused,
          ...(digest === undefined ? {} : { arguments: digest }),
          ...(member === undefined ? {} : { member }),
        });
        told.catch((cause: unknown) => { logger.warn({ intent, error: cause }, "a refused effect could not be recorded"); }); // prettier-ignore
      }
      throw error;
    }
  }

  /** Records a refusal of our own as the error that it is, and passes it on. What stops the task is told by the recall. */
  async #refusing<T>(options: Asked, run: () => Promise<T> | T): Promise<T> {
    try {
      return await run();
    } catch (error) {
      const { desk, control, logger } = this.#options;
      if (control.stop !== undefined) throw error;
      const told = desk.faults.failure(error, toFailure(error), {
        operation: options.operation,
        covers: options.covers,
      });
      // A dispatch that hangs holds the chain up: its failure is told behind it, but not waited for.
      if (!isCandorError(error, "publish-unconfirmed")) await told;
      else told.catch((cause: unknown) => { logger.warn({ error: cause }, "an error could not be recorded"); }); // prettier-ignore
      throw error;
    }
  }
}
