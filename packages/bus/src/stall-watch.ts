import { isCandorError } from "@candor/contract";
import { readsFromLeader, type Link } from "./link.js";
import { readAt, readNext, readStreamState } from "./look-up.js";

/** A reader that has asked for messages of which the server has some. */
export interface Waiting {
  /** The consumer that was asked. */
  readonly consumer: object;
  /** Stream sequence of the last message that it delivered. */
  readonly afterSeq: number;
  /** It delivers what the filters leave out, too, so whose message it can't hand out is not known. */
  readonly isWide: boolean;
}

export interface StallWatchOptions {
  readonly link: Link;
  readonly stream: string;
  /** Subject filters of the reader; the whole stream for none. */
  readonly filters: readonly string[];
  readonly everyMs: number;
  /** Undefined while nothing is due from the server. */
  readonly waiting: () => Waiting | undefined;
  /** Called for a wide consumer that makes no headway, before anything is looked up. */
  readonly onWideStall: () => void;
  /** Called with the sequence of the next message, which the server counts and does not hand out. */
  readonly onUnreadable: (seq: number) => void;
}

/** Look-ups that must find nothing, one after the other, before a message counts as unreadable. */
const proofs = 2;
/** How far to look for the first message that is not there; further on the place next to the last one is named. */
const mostSteps = 1_000;

/**
 * Notices a store that is damaged where a reader has to go on: the server then sends heartbeats and no messages, for
 * ever. Slowness proves nothing: only where the stream's leader itself, asked for the next message, twice has none,
 * although it counts some, is it unreadable. Does nothing for a role that may not look up.
 */
export class StallWatch {
  readonly #options: StallWatchOptions;
  readonly #timer: NodeJS.Timeout | undefined;
  #before: Waiting | undefined;
  #found = 0;
  #isAsking = false;

  constructor(options: StallWatchOptions) {
    this.#options = options;
    if (!readsFromLeader(options.link)) return;
    this.#timer = setInterval(() => {
      if (!this.#isAsking) void this.#check();
    }, options.everyMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #check(): Promise<void> {
    const now = this.#options.waiting();
    const isStill = now !== undefined && isSame(now, this.#before);
    this.#before = now;
    if (!isStill) {
      this.#found = 0;
      return;
    }
    if (now.isWide) {
      this.#options.onWideStall();
      return;
    }
    this.#isAsking = true;
    const isMissing = await this.#isNextMissing(now.afterSeq);
    const seq = isMissing && this.#found + 1 >= proofs ? await this.#firstMissing(now.afterSeq) : undefined;
    this.#isAsking = false;
    if (!isSame(now, this.#options.waiting())) return;
    this.#found = isMissing ? this.#found + 1 : 0;
    if (seq !== undefined) this.#options.onUnreadable(seq);
  }

  /** True only if the leader answers, and has nothing to hand out. */
  async #isNextMissing(afterSeq: number): Promise<boolean> {
    const { link, stream, filters } = this.#options;
    try {
      for (const filter of filters.length === 0 ? [">"] : filters) {
        if (await isReadable(readNext(link, stream, filter, afterSeq + 1))) return false;
      }
      return (await readStreamState(link, stream)).lastSeq > afterSeq;
    } catch {
      return false;
    }
  }

  async #firstMissing(afterSeq: number): Promise<number> {
    const { link, stream } = this.#options;
    try {
      for (let seq = afterSeq + 1; seq <= afterSeq + mostSteps; seq += 1) {
        if (!(await isReadable(readAt(link, stream, seq)))) return seq;
      }
    } catch {
      // The place is only for people.
    }
    return afterSeq + 1;
  }
}

function isSame(now: Waiting, other: Waiting | undefined): boolean {
  return now.consumer === other?.consumer && now.afterSeq === other.afterSeq;
}

/** Of a block that it can't decompress the server says that there is no message, or "server error". */
async function isReadable(answer: Promise<unknown>): Promise<boolean> {
  try {
    return (await answer) !== undefined;
  } catch (error) {
    if (isCandorError(error, "server-failed")) return false;
    throw error;
  }
}
