import { isCandorError, type CandorError, type Logger } from "@candor/contract";
import type { ChainPlace } from "./chain.js";
import { lastOfKinds, safeSequence } from "./log-comparison.js";
import type { LiveFeed, LookUp } from "./ports.js";
import type { Recorder } from "./recorder.js";
import type { SpoolContent, SpooledEvent } from "./spool/spool-content.js";
import type { SpoolRecord } from "./spool/spool-record.js";

export interface LogWatchParts {
  readonly bus: LookUp & LiveFeed;
  readonly place: ChainPlace;
  readonly spool: {
    readonly content: SpoolContent;
    write(record: SpoolRecord): void;
    read(): SpoolContent;
    sync(): Promise<void>;
  };
  readonly recorder: Pick<Recorder, "resend" | "rewind">;
  /** Called if the log is another one, so that nothing can follow. */
  readonly onFailure: (error: CandorError) => void;
  /** Called if the log lost events, which are on their way again. */
  readonly onLoss: () => void;
  readonly logger: Logger;
}

interface Compared {
  /** Events that the log had confirmed and has no longer, or may have no longer. */
  readonly lost: readonly SpooledEvent[];
  /** These and those that it never confirmed. */
  readonly unstored: readonly SpooledEvent[];
}

/**
 * Sees to it that the log has what it once had (B9, S26): after a restart of this process, and whenever the server was
 * away, the log is compared with the spool, and what it lost is sent again.
 */
export class LogWatch {
  readonly #parts: LogWatchParts;
  #interruptions: number;
  #turn: Promise<unknown> = Promise.resolve();
  #end: () => void = () => undefined;

  constructor(parts: LogWatchParts) {
    this.#parts = parts;
    this.#interruptions = parts.spool.content.interruptions;
  }

  /**
   * Compares the log with what an earlier process left, and sends all that the log is not known to have.
   * @throws CandorError `log-rolled-back`, `spool-lost`, `server-unreachable`, `folder-not-writable`
   */
  async open(): Promise<void> {
    const { unstored } = await this.#compare();
    // One that goes out behind an expectation is cleared up by itself.
    this.#parts.recorder.resend(unstored.filter(({ expect }) => expect === undefined));
  }

  /** Compares after each interruption from now on. Ends with `close`. */
  start(): void {
    const { bus, recorder, onFailure, logger } = this.#parts;
    this.#end = bus.onReconnect(() => {
      this.#compare().then(
        ({ lost }) => {
          recorder.resend(lost);
        },
        (error: unknown) => {
          if (isCandorError(error, "log-rolled-back", "spool-lost")) onFailure(error);
          else logger.warn({ error }, "could not compare the log with what is remembered");
        },
      );
    });
  }

  close(): void {
    this.#end();
  }

  async #compare(): Promise<Compared> {
    const { spool } = this.#parts;
    // Before anything is sent: whatever is marked as stored from here on is in the log that is being looked at.
    spool.write({ type: "interrupted" });
    const interruptions = (this.#interruptions += 1);
    const comparing = this.#turn.then(() => this.#compareOnce(interruptions));
    this.#turn = comparing.catch(() => undefined);
    return await comparing;
  }

  async #compareOnce(interruptions: number): Promise<Compared> {
    const { bus, place, spool, recorder, onLoss, logger } = this.#parts;
    const last = await lastOfKinds(bus, place);
    const before = spool.read();
    spool.write({ type: "compared", interruptions, after: safeSequence(place, before, last) });
    await spool.sync();
    const { unstored } = spool.read();
    const lost = unstored.filter(({ seq }) => before.events[seq - 1]?.sequence !== undefined);
    const [first] = lost;
    if (first !== undefined) {
      const sequence = before.events[first.seq - 1]?.sequence;
      logger.error(
        { lane: place.lane, seq: first.seq, sequence, lost: lost.length },
        "the log lost events of this task that it had confirmed; they are sent again",
      );
      recorder.rewind(last.get("effect")?.sequence ?? 0);
      onLoss();
    }
    return { lost, unstored };
  }
}
