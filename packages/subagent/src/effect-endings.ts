import type { Dispatcher } from "./dispatcher.js";
import type { Doubts } from "./doubts.js";
import type { EffectBook } from "./effect-book.js";
import type { Planned } from "./effect-plan.js";
import { ResultCipher } from "./encrypted-json.js";
import type { Inheritance } from "./inheritance.js";
import type { IntentKeys } from "./intent-keys.js";
import { within } from "./pause.js";
import type { Recorder } from "./recorder.js";
import type { RecorderSpool } from "./recorder-spool.js";

export interface EffectEndingsOptions {
  readonly recorder: Recorder;
  readonly dispatcher: Dispatcher;
  readonly book: EffectBook;
  readonly keys: IntentKeys;
  readonly spool: Pick<RecorderSpool, "content" | "write" | "note">;
  readonly inheritance: Inheritance;
  readonly doubts: Doubts;
  readonly dataKey: Uint8Array;
  /** How long what an effect came to may take to be stored, in ms, until it goes on in the background. */
  readonly settleMs: number;
}

/** An effect that happened, by its dispatch. */
interface Done {
  readonly dispatch: number;
  readonly value: unknown;
  readonly identifiers: Readonly<Record<string, string>>;
}

/** What effects came to: kept in the spool, told in the log, and written down under the key for the next who meets it. */
export class EffectEndings {
  readonly #options: EffectEndingsOptions;
  readonly #cipher: ResultCipher;

  constructor(options: EffectEndingsOptions) {
    this.#options = options;
    this.#cipher = new ResultCipher(options.dataKey);
  }

  /** Makes ready what the next ending takes, while the processor has nothing else to do. */
  prepare(): void {
    this.#cipher.prepare();
  }

  /** Outcome and result go out together; what does not get through in time goes on in the background. */
  async commit(plan: Planned, done: Done & { readonly keyRead: boolean }): Promise<void> {
    const { dispatcher, recorder, settleMs } = this.#options;
    const { dispatch, identifiers, keyRead } = done;
    this.#keep(plan, done, "with the outcome");
    const outcome = { phase: "committed", dispatch, identifiers, keyRead } as const;
    const write = this.#prepare(plan, done);
    let settled: Promise<void> | undefined;
    // Where nothing else is to be told first, both reach the server in one breath.
    const alongside = this.#isAlone(plan, dispatch) ? () => { settled = write(); } : undefined; // prettier-ignore
    const { seq } = await dispatcher.outcome(plan, outcome, alongside);
    if (settled === undefined) await this.clear(plan, done);
    settled ??= write();
    await within(Promise.all([recorder.stored(seq), settled]), settleMs);
  }

  /** A look-up found it done: the key's result is written down. */
  async found(plan: Planned, done: Done): Promise<void> {
    const { dispatch, identifiers } = done;
    this.#keep(plan, done, "now");
    const result = this.#options.spool.content.results.get(plan.key)?.result;
    this.#options.inheritance.clear(plan.key, { dispatch, identifiers, arguments: plan.arguments, result });
    await within(this.#prepare(plan, done)(), this.#options.settleMs);
  }

  /** What a repeat came to is what all came to that were dispatched before it, here and in earlier epochs. */
  async clear(plan: Planned, { dispatch, identifiers }: Omit<Done, "value">): Promise<void> {
    const { book, inheritance, doubts } = this.#options;
    if (plan.inDoubt !== "reissue") return;
    const inherited = await inheritance.of(plan.key);
    if (inherited?.state !== "in-doubt" && book.openUnder(plan.key).length === 0) return;
    await doubts.tell(plan, "committed", identifiers);
    inheritance.clear(plan.key, { dispatch, identifiers });
  }

  /** True if the outcome of this dispatch says all that there is to say of its key. */
  #isAlone(plan: Planned, dispatch: number): boolean {
    const { book, inheritance } = this.#options;
    if (plan.inDoubt !== "reissue") return true;
    const inherited = inheritance.of(plan.key);
    if (inherited instanceof Promise) return false;
    return inherited?.state !== "in-doubt" && book.openUnder(plan.key).every((open) => open.dispatch === dispatch);
  }

  /** @param when whether the spool takes it at once, or in one go with the outcome that is recorded next */
  #keep(plan: Planned, { dispatch, value }: Done, when: "now" | "with the outcome"): void {
    const { spool } = this.#options;
    const result = this.#cipher.encrypt(value);
    if (result === undefined) return;
    const record = { type: "result", key: plan.key, dispatch, result } as const;
    if (when === "now") spool.write(record);
    else spool.note(record);
    spool.content.results.set(plan.key, { dispatch, result });
  }

  /** What writes the key's result down, for the next who meets the key. */
  #prepare(plan: Planned, { dispatch, identifiers }: Done): () => Promise<void> {
    const { spool, keys } = this.#options;
    if (!plan.minted) return () => Promise.resolve();
    const result = spool.content.results.get(plan.key)?.result;
    const settle = keys.prepare(plan.key, { dispatch, identifiers, arguments: plan.arguments, result });
    return () =>
      settle(() => {
        spool.note({ type: "done", key: plan.key });
      });
  }
}
