import { RandomPool } from "./random-pool.js";
import { CandorError, decodeValue, encodeCanonical, equalBytes, intentKeySubject, type Logger } from "@candor/contract";
import {
  bindTaskKey,
  encodeKeyRecord,
  readKeyRecord,
  type DoneRecord,
  type KeyRecord,
  type KeySigner,
  type KeyWriter,
} from "./key-record.js";
import { pause, within } from "./pause.js";
import type { EventSink, LookUp } from "./ports.js";

export interface IntentKeysOptions {
  readonly bus: EventSink & LookUp;
  readonly writer: KeyWriter;
  readonly signer: KeySigner;
  /** Public key text of the operator. */
  readonly operator: string;
  readonly logger: Logger;
}

/** `stored`: now, and certainly for the first time; `held`: this task key has it, perhaps from before. */
export type Claim = "stored" | "held" | "lost";

/** A claim that an agent left. */
export interface LeftClaim {
  /** Digest of what the effect was to be called with, where the agent said it. */
  readonly arguments: Uint8Array | undefined;
}

/** What an agent left under a key. `unproven`: something is there, but not what this agent's word would look like. */
export type Left = KeyRecord | "unproven" | undefined;

const claimVersion = 1;
const firstRetryMs = 50;
const longestRetryMs = 2_000;

type Step = Parameters<typeof intentKeySubject>[0]["step"];

/** Write-once records of intent keys: the claim before an effect runs, and what came of it (F7). */
export class IntentKeys {
  readonly #options: IntentKeysOptions;
  readonly #closing = new AbortController();
  readonly #writing = new Set<Promise<void>>();
  readonly #nonces = new RandomPool(8);
  #binding: Uint8Array | undefined;

  constructor(options: IntentKeysOptions) {
    this.#options = options;
  }

  /**
   * Claims a key for this epoch. A claim that this task key made before is held still.
   * @param digest of the arguments, for whoever meets the claim later
   * @throws CandorError if it is not known within `timeoutMs` whether the claim holds
   */
  async claim(key: string, digest: Uint8Array | undefined, timeoutMs: number): Promise<Claim> {
    const { bus, writer, signer } = this.#options;
    const subject = this.#subject(writer.actor, key, `claim-${writer.epoch}`);
    // No two alike: the server's word that one is stored, which it gives to equal bytes too, then means this one.
    const nonce = this.#nonces.next();
    const claim = encodeCanonical({
      version: claimVersion,
      taskKey: signer.taskKey.publicKey,
      arguments: digest,
      nonce,
    });
    const deadline = performance.now() + timeoutMs;
    let first = true;
    for (let delay = firstRetryMs; ; delay = Math.min(delay * 2, longestRetryMs)) {
      const answer = await bus.publish(subject, claim);
      if (answer.outcome === "stored") return first ? "stored" : "held";
      first = false;
      if (answer.outcome === "refused") throw answer.error;
      if (answer.outcome === "lost") {
        const holder = answer.existing ?? (await bus.last("keys", subject))?.data;
        if (holder !== undefined) return isClaimOf(holder, signer.taskKey.publicKey) ? "held" : "lost";
        // A replica may not have it yet.
        if (performance.now() + delay > deadline) return "lost";
      } else if (performance.now() + delay > deadline) throw answer.error;
      await pause(delay, this.#closing.signal);
    }
  }

  /** Writes that a key is done, in the background and until it is there. @returns resolves once it is, or is given up */
  settle(key: string, done: DoneRecord, onStored: () => void): Promise<void> {
    return this.prepare(key, done)(onStored);
  }

  /** Signs that a key is done. @returns what `settle` does with it, to be called when its time comes */
  prepare(key: string, done: DoneRecord): (onStored: () => void) => Promise<void> {
    const { writer, signer } = this.#options;
    this.#binding ??= bindTaskKey(writer, signer);
    const record = encodeKeyRecord(key, writer, { type: "done", ...done }, signer, this.#binding);
    return (onStored) => this.#write(key, "done", record, onStored);
  }

  /** Hands on, under this agent, what another one left. */
  handOn(key: string, { bytes }: KeyRecord): void {
    void this.#write(key, "done", bytes, () => undefined);
  }

  /**
   * Writes that nothing happened under a key in this epoch, in the background, if the claim is this task key's own. It is
   * write-once too: only for an epoch in which nothing can be dispatched any more.
   */
  void(key: string): void {
    const { bus, writer, signer, logger } = this.#options;
    const voiding = bus.last("keys", this.#subject(writer.actor, key, `claim-${writer.epoch}`)).then(
      (claim) => {
        if (claim === undefined || !isClaimOf(claim.data, signer.taskKey.publicKey)) return;
        const record = encodeKeyRecord(key, writer, { type: "void" }, signer);
        void this.#write(key, `void-${writer.epoch}`, record, () => undefined);
      },
      (error: unknown) => {
        // The key is then in doubt for whoever comes next, which is safe.
        logger.warn({ key, error }, "could not write down that nothing happened under an intent key");
      },
    );
    void this.#follow(voiding);
  }

  /**
   * What an agent left of a key that is done, in whatever epoch.
   * @throws CandorError `server-unreachable`
   */
  async done(actor: string, key: string): Promise<Left> {
    const left = await this.#read(actor, key, "done");
    return left === undefined || left === "unproven" || left.outcome.type === "done" ? left : "unproven";
  }

  /**
   * The claim that an agent made on a key in an epoch, if it did not say that nothing came of it.
   * @throws CandorError `server-unreachable`
   */
  async claimed(actor: string, key: string, epoch: number): Promise<LeftClaim | undefined> {
    const { bus } = this.#options;
    const claim = await bus.last("keys", this.#subject(actor, key, `claim-${epoch}`));
    if (claim === undefined) return undefined;
    const left = await this.#read(actor, key, `void-${epoch}`);
    const isVoid =
      left !== undefined &&
      left !== "unproven" &&
      left.outcome.type === "void" &&
      left.actor === actor &&
      left.epoch === epoch;
    if (isVoid) return undefined;
    const digest = claimFields(claim.data)["arguments"];
    return { arguments: digest instanceof Uint8Array ? digest.slice() : undefined };
  }

  /** Waits until every record handed over is written. @throws CandorError `publish-unconfirmed` */
  async flush(timeoutMs: number): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    while (this.#writing.size > 0) {
      const left = deadline - performance.now();
      if (left > 0 && (await within(Promise.all(this.#writing), left)) !== undefined) continue;
      throw new CandorError(
        "publish-unconfirmed",
        `${this.#writing.size} records of intent keys are not confirmed after ${timeoutMs} ms; they are written when the spool is opened again.`,
      );
    }
  }

  close(): void {
    this.#closing.abort();
  }

  #subject(actor: string, key: string, step: Step): string {
    return intentKeySubject({ actor, run: this.#options.writer.run, key, step });
  }

  async #read(actor: string, key: string, step: Step): Promise<Left> {
    const { bus, writer, operator, logger } = this.#options;
    const found = await bus.last("keys", this.#subject(actor, key, step));
    if (found === undefined) return undefined;
    const { run, task } = writer;
    const record = readKeyRecord(found.data, { operator, run, task, key });
    if (record === undefined)
      logger.warn({ actor, key, step }, "a record of an intent key is nobody's word: not believed");
    return record ?? "unproven";
  }

  #follow(work: Promise<void>): Promise<void> {
    const following = work.finally(() => this.#writing.delete(following));
    this.#writing.add(following);
    return following;
  }

  #write(key: string, step: Step, record: Uint8Array, onStored: () => void): Promise<void> {
    return this.#follow(this.#writeOnce(key, step, record, onStored));
  }

  #note(key: string, onStored: () => void): void {
    try {
      onStored();
    } catch (error) {
      // Without the note the record is written once more after a restart, which changes nothing.
      this.#options.logger.debug({ key, error }, "the spool could not note that an intent key is settled");
    }
  }

  async #writeOnce(key: string, step: Step, record: Uint8Array, onStored: () => void): Promise<void> {
    const { bus, writer, logger } = this.#options;
    const subject = this.#subject(writer.actor, key, step);
    for (let delay = firstRetryMs; ; delay = Math.min(delay * 2, longestRetryMs)) {
      const answer = await bus.publish(subject, record);
      // Lost means that it is written already, by this process or the one before.
      if (answer.outcome === "stored" || answer.outcome === "lost") {
        if (answer.outcome === "lost" && answer.existing !== undefined && !equalBytes(answer.existing, record)) {
          logger.warn({ key, step }, "another record of an intent key was there first");
        }
        this.#note(key, onStored);
        return;
      }
      if (answer.outcome === "refused") {
        logger.error({ key, error: answer.error }, "what came of an intent key can't be written down");
        return;
      }
      try {
        await pause(delay, this.#closing.signal);
      } catch {
        return;
      }
    }
  }
}

/** False also for garbage: whoever holds such a claim, it is not this task key. */
function isClaimOf(data: Uint8Array, taskKey: string): boolean {
  return claimFields(data)["taskKey"] === taskKey;
}

function claimFields(data: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const claim = decodeValue(data);
    return typeof claim === "object" && claim !== null ? (claim as Readonly<Record<string, unknown>>) : {};
  } catch {
    return {};
  }
}
