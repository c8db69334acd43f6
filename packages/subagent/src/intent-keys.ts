import { CandorError, decodeValue, encodeCanonical, intentKeySubject, type Logger } from "@candor/contract";
import { pause, within } from "./pause.js";
import type { EventSink, LookUp } from "./ports.js";

/** What is kept of an effect that is done, for whoever meets its key later. */
export interface DoneRecord {
  readonly epoch: number;
  readonly dispatch: number;
  readonly identifiers: Readonly<Record<string, string>>;
  readonly arguments?: Uint8Array | undefined;
  /** What the effect returned, encrypted under the run's data key. */
  readonly result?: Uint8Array | undefined;
}

export interface KeyPlace {
  readonly actor: string;
  readonly run: string;
  readonly epoch: number;
  /** Public text of the ephemeral task key: whose claim it is. */
  readonly taskKey: string;
}

export type Claim = "held" | "lost";

const version = 1;
/** Results beyond this stay in the spool only. */
const mostResultBytes = 64 * 1024;
const firstRetryMs = 50;
const longestRetryMs = 2_000;

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function encodeDone({ epoch, dispatch, identifiers, arguments: digest, result }: DoneRecord): Uint8Array {
  const kept = result !== undefined && result.length <= mostResultBytes ? result : undefined;
  return encodeCanonical({ version, epoch, dispatch, identifiers, arguments: digest, result: kept });
}

function decodeDone(bytes: Uint8Array): DoneRecord {
  const value = decodeValue(bytes);
  if (isRecord(value) && value["version"] === version && isRecord(value["identifiers"])) {
    const { epoch, dispatch, arguments: digest, result } = value;
    const identifiers = Object.fromEntries(
      Object.entries(value["identifiers"]).map(([name, text]) => [name, String(text)]),
    );
    return {
      epoch: Number(epoch),
      dispatch: Number(dispatch),
      identifiers,
      arguments: digest instanceof Uint8Array ? digest : undefined,
      result: result instanceof Uint8Array ? result : undefined,
    };
  }
  throw new CandorError("unknown-version", "The record of a done effect is of another version: update this agent.");
}

/** Write-once records of intent keys: the claim before an effect runs, and what came of it (F7). */
export class IntentKeys {
  readonly #bus: EventSink & LookUp;
  readonly #place: KeyPlace;
  readonly #logger: Logger;
  readonly #closing = new AbortController();
  readonly #settling = new Set<Promise<void>>();

  constructor(bus: EventSink & LookUp, place: KeyPlace, logger: Logger) {
    this.#bus = bus;
    this.#place = place;
    this.#logger = logger;
  }

  /**
   * Claims a key for this epoch. A claim that this task key made before is held still.
   * @throws CandorError if it is not known within `timeoutMs` whether the claim holds
   */
  async claim(key: string, timeoutMs: number): Promise<Claim> {
    const { actor, run, epoch, taskKey } = this.#place;
    const subject = intentKeySubject({ actor, run, key, step: `claim-${epoch}` });
    const deadline = performance.now() + timeoutMs;
    for (let delay = firstRetryMs; ; delay = Math.min(delay * 2, longestRetryMs)) {
      const answer = await this.#bus.publish(subject, encodeCanonical({ version, taskKey }));
      if (answer.outcome === "stored") return "held";
      if (answer.outcome === "refused") throw answer.error;
      if (answer.outcome === "lost") {
        const holder = answer.existing ?? (await this.#bus.last("keys", subject))?.data;
        if (holder !== undefined) return isOwnClaim(holder, taskKey) ? "held" : "lost";
      } else if (performance.now() + delay > deadline) throw answer.error;
      await pause(delay, this.#closing.signal);
    }
  }

  /** Writes what came of a key, in the background and until it is there. */
  settle(key: string, done: DoneRecord, onStored: () => void): void {
    const settling = this.#settle(key, done, onStored).finally(() => this.#settling.delete(settling));
    this.#settling.add(settling);
  }

  /** What came of a key that an agent claimed in this run; undefined if nothing is known. */
  async done(actor: string, key: string): Promise<DoneRecord | undefined> {
    const found = await this.#bus.last("keys", intentKeySubject({ actor, run: this.#place.run, key, step: "done" }));
    return found && decodeDone(found.data);
  }

  /** Whether an agent claimed a key in an epoch. */
  async isClaimed(actor: string, key: string, epoch: number): Promise<boolean> {
    const subject = intentKeySubject({ actor, run: this.#place.run, key, step: `claim-${epoch}` });
    return (await this.#bus.last("keys", subject)) !== undefined;
  }

  /** Waits until every record handed over is written. @throws CandorError `publish-unconfirmed` */
  async flush(timeoutMs: number): Promise<void> {
    if (this.#settling.size === 0) return;
    if ((await within(Promise.all(this.#settling), timeoutMs)) !== undefined) return;
    throw new CandorError(
      "publish-unconfirmed",
      `${this.#settling.size} records of done effects are not confirmed after ${timeoutMs} ms; they are written when the spool is opened again.`,
    );
  }

  close(): void {
    this.#closing.abort();
  }

  #note(key: string, onStored: () => void): void {
    try {
      onStored();
    } catch (error) {
      // Without the note the record is written once more after a restart, which changes nothing.
      this.#logger.debug({ key, error }, "the spool could not note that an intent key is settled");
    }
  }

  async #settle(key: string, done: DoneRecord, onStored: () => void): Promise<void> {
    const { actor, run } = this.#place;
    const subject = intentKeySubject({ actor, run, key, step: "done" });
    for (let delay = firstRetryMs; ; delay = Math.min(delay * 2, longestRetryMs)) {
      const answer = await this.#bus.publish(subject, encodeDone(done));
      // Lost means that it is written already, by this process or the one before.
      if (answer.outcome === "stored" || answer.outcome === "lost") {
        this.#note(key, onStored);
        return;
      }
      if (answer.outcome === "refused") {
        this.#logger.error({ key, error: answer.error }, "what came of an intent key can't be written down");
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

function isOwnClaim(data: Uint8Array, taskKey: string): boolean {
  const claim = decodeValue(data);
  return isRecord(claim) && claim["taskKey"] === taskKey;
}
