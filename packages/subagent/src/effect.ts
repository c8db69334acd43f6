import { isCandorError, type Logger, type Mode } from "@candor/contract";
import { currentAttempt } from "./attempt-scope.js";
import type { Control } from "./control.js";
import { EffectEndings, type EffectEndingsOptions } from "./effect-endings.js";
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
import { toFailure } from "./failure.js";
import { fittingIdentifiers } from "./identifiers.js";
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

export interface EffectsOptions extends EffectEndingsOptions {
  readonly desk: TaskDesk;
  readonly control: Control;
  readonly mode: Mode;
  readonly minted: MintedKeys;
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
  readonly #endings: EffectEndings;

  constructor(options: EffectsOptions) {
    this.#options = options;
    this.#endings = new EffectEndings(options);
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
      this.#endings.prepare();
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
      if (last !== undefined) await this.#endings.clear(plan, last);
      return found;
    }
    const answer = await doubts.resolve(plan, found, options.probe);
    if (answer === undefined) return undefined;
    const { result: value, identifiers = {} } = answer;
    await this.#endings.found(plan, { dispatch: open?.dispatch ?? 0, value, identifiers });
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
    await this.#endings.commit(plan, { dispatch, value, identifiers, keyRead });
    return value;
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
