import type { Payload } from "@candor/contract";
import type { IntentKeys } from "./intent-keys.js";
import type { DoneRecord, KeyRecord } from "./key-record.js";

/** What an earlier epoch left under an intent key. */
export type Inherited =
  | { readonly state: "done"; readonly done: DoneRecord; readonly record?: KeyRecord }
  | {
      readonly state: "in-doubt";
      /** The last epoch that left it so. */
      readonly epoch: number;
      /** Digest of what the effect was called with there, where it is known. */
      readonly arguments: Uint8Array | undefined;
    };

export interface InheritingTask {
  readonly actor: string;
  readonly epoch: number;
  readonly delegation: Payload<"delegate">;
}

/** Look-ups at once. */
const width = 16;
/** How long handing a doubt on may take, in ms. */
const claimMs = 5_000;

/**
 * What earlier epochs did under the minted keys, so that nothing is done twice: this agent's own, and those of the
 * predecessor that the delegation names. A claim leaves the key in doubt unless there is a result, or its holder's word
 * that nothing happened in that epoch; a result that is not provably an agent's word does too. What is found is written
 * down under this agent too, so that the next in line need only ask this one.
 */
export class Inheritance {
  readonly #keys: IntentKeys;
  /** Whom to ask, and up to which epoch; nobody in a first epoch. */
  readonly #epochsOf: ReadonlyMap<string, number>;
  readonly #known = new Map<string, Inherited | undefined>();

  private constructor(keys: IntentKeys, { actor, epoch, delegation: { predecessor } }: InheritingTask) {
    this.#keys = keys;
    const isFirst = epoch === 1 && predecessor === undefined;
    const epochsOf = new Map(isFirst ? [] : [[actor, epoch - 1]]);
    if (predecessor !== undefined) {
      epochsOf.set(predecessor.actor, Math.max(predecessor.epoch, epochsOf.get(predecessor.actor) ?? 0));
    }
    this.#epochsOf = epochsOf;
  }

  /**
   * Looks up all keys that the delegation names. Members of a family are looked up when they are asked for.
   * @throws CandorError `server-unreachable`
   */
  static async open(keys: IntentKeys, task: InheritingTask): Promise<Inheritance> {
    const inheritance = new Inheritance(keys, task);
    if (inheritance.#epochsOf.size === 0) return inheritance;
    const named = task.delegation.intents.filter(({ discriminator }) => discriminator === undefined);
    for (let i = 0; i < named.length; i += width) {
      await Promise.all(named.slice(i, i + width).map(({ key }) => inheritance.#find(key)));
    }
    return inheritance;
  }

  /**
   * What is left under a key. At once if it was looked up before.
   * @throws CandorError `server-unreachable`
   */
  of(key: string): Inherited | undefined | Promise<Inherited | undefined> {
    if (this.#epochsOf.size === 0 || this.#known.has(key)) return this.#known.get(key);
    return this.#find(key);
  }

  /** The last earlier epoch that was asked about; undefined in a first one. */
  get before(): number | undefined {
    return this.#epochsOf.size === 0 ? undefined : Math.max(...this.#epochsOf.values());
  }

  /** A doubt was cleared up: the effect is done, or (undefined) certainly nothing happened. */
  clear(key: string, done: DoneRecord | undefined): void {
    this.#known.set(key, done === undefined ? undefined : { state: "done", done });
  }

  async #find(key: string): Promise<Inherited | undefined> {
    const found = await this.#lookUp(key);
    if (found?.state === "in-doubt") await this.#keys.claim(key, found.arguments, claimMs);
    else if (found?.record !== undefined) this.#keys.handOn(key, found.record);
    this.#known.set(key, found);
    return found;
  }

  async #lookUp(key: string): Promise<Inherited | undefined> {
    const latest = Math.max(...this.#epochsOf.values());
    for (const actor of this.#epochsOf.keys()) {
      const record = await this.#keys.done(actor, key);
      if (record === "unproven") return { state: "in-doubt", epoch: latest, arguments: undefined };
      if (record?.outcome.type === "done") return { state: "done", done: record.outcome, record };
    }
    for (let epoch = latest; epoch >= 1; epoch -= 1) {
      for (const [actor, last] of this.#epochsOf) {
        const claim = epoch > last ? undefined : await this.#keys.claimed(actor, key, epoch);
        if (claim !== undefined) return { state: "in-doubt", epoch, arguments: claim.arguments };
      }
    }
    return undefined;
  }
}
