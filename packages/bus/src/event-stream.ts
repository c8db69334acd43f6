import { CandorError, silentLogger, type Logger } from "@candor/contract";
import { isConnected, watchConnection } from "./connection-watch.js";
import type { EventStreamOptions } from "./event-stream-options.js";
import type { Link } from "./link.js";
import { readAnswer, type PublishAnswer } from "./publish-answer.js";
import { openReplyInbox, type ReplyInbox } from "./reply-inbox.js";
import { troubleOf, type Doubt } from "./stream-trouble.js";

interface Unanswered {
  readonly subject: string;
  readonly bytes: Uint8Array;
  readonly onStored: ((seq: number) => void) | undefined;
  readonly onFailed: ((failure: CandorError) => void) | undefined;
  /** `performance.now()` of the last attempt; 0 while it waits for its turn. */
  sentAt: number;
}

interface Waiter {
  readonly upTo: number;
  readonly resolve: () => void;
  readonly reject: (error: CandorError) => void;
}

const shortestPauseMs = 20;
const longestPauseMs = 1_000;

/**
 * Stores many messages with few waits: up to `window` of them are under way at a time, on one reply subscription and
 * without a promise for each. When an answer stays out, or the server can't store just now, everything unanswered is
 * sent again in its order with the same bytes, for as long as it takes. The log may then hold exact duplicates, or an
 * earlier message after a later one, neither of which is a finding.
 */
export class EventStream {
  readonly #link: Link;
  readonly #window: number;
  readonly #answerMs: number;
  readonly #onTrouble: ((trouble: CandorError | undefined) => void) | undefined;
  readonly #logger: Logger;
  readonly #inbox: ReplyInbox;
  readonly #stopWatching: () => void;
  /** Messages in order, from number `#base` on; answered ones leave holes. */
  #queue: (Unanswered | undefined)[] = [];
  #base = 0;
  /** Number of the first unanswered message. */
  #first = 0;
  #nextToSend = 0;
  #end = 0;
  #underWay = 0;
  #waiters: Waiter[] = [];
  #pauseMs = shortestPauseMs;
  #retry: NodeJS.Timeout | undefined;
  #check: NodeJS.Timeout | undefined;
  #trouble: CandorError | undefined;
  #failure: CandorError | undefined;

  constructor(link: Link, options: EventStreamOptions = {}) {
    const { window = 512, answerMs = 2_000, onTrouble, logger = silentLogger } = options;
    this.#link = link;
    this.#window = window;
    this.#answerMs = answerMs;
    this.#onTrouble = onTrouble;
    this.#logger = logger;
    this.#inbox = openReplyInbox(link, (token, reply) => {
      this.#take(token, readAnswer(reply));
    });
    this.#stopWatching = watchConnection(link.nc, {
      disconnected: () => {
        this.#sendAgain({ type: "silence", reason: "the connection was interrupted" });
      },
      reconnected: () => {
        this.#resume();
      },
      refused: (subject) => {
        this.#refuse(subject);
      },
      closed: () => {
        this.#fail(new CandorError("connection-closed", "The connection was closed with events still to be stored."));
      },
    });
  }

  /** Messages handed over and not yet known to be stored. */
  get pending(): number {
    return this.#end - this.#first;
  }

  /** Why storing does not go ahead just now. */
  get trouble(): CandorError | undefined {
    return this.#failure ?? this.#trouble;
  }

  /**
   * Hands a message over.
   *
   * @param onStored called with its stream sequence
   * @returns undefined, or, when the window is full, a promise to await before the next one
   * @throws CandorError the one that stopped the stream for good: `permission-denied`, `too-large`, `server-failed` or
   *   `connection-closed`
   */
  send(subject: string, bytes: Uint8Array, onStored?: (seq: number) => void): Promise<void> | undefined {
    this.#add({ subject, bytes, onStored, onFailed: undefined, sentAt: 0 });
    return this.pending < this.#window ? undefined : this.#until(this.#end - (this.#window >> 1));
  }

  /**
   * Stores one message.
   * @returns its stream sequence
   * @throws CandorError as `send`
   */
  store(subject: string, bytes: Uint8Array): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#add({ subject, bytes, onStored: resolve, onFailed: reject, sentAt: 0 });
    });
  }

  /**
   * Resolves when everything handed over so far is stored.
   * @throws CandorError as `send`; after `timeoutMs` what is in the way, or `publish-unconfirmed`
   */
  async flush(timeoutMs?: number): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    const done = this.#until(this.#end);
    if (timeoutMs === undefined) return done;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        const message = `${this.pending} events are not known to be stored after ${timeoutMs} ms; they go on being sent.`;
        reject(this.#trouble ?? new CandorError("publish-unconfirmed", message));
      }, timeoutMs);
    });
    done.catch(() => undefined);
    try {
      await Promise.race([done, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Stops at once; what is not known to be stored may be stored or not. */
  close(): void {
    this.#fail(new CandorError("connection-closed", "The stream of events was closed before all were stored."));
    if (!this.#link.nc.isClosed()) this.#inbox.close();
  }

  #add(message: Unanswered): void {
    if (this.#failure !== undefined) throw this.#failure;
    this.#queue.push(message);
    this.#end += 1;
    this.#pump();
  }

  #until(upTo: number): Promise<void> {
    if (this.#first >= upTo) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#waiters.push({ upTo, resolve, reject });
    });
  }

  #pump(): void {
    if (this.#retry !== undefined || this.#failure !== undefined || !isConnected(this.#link.nc)) return;
    const now = performance.now();
    while (this.#nextToSend < this.#end && this.#underWay < this.#window) {
      const token = this.#nextToSend;
      this.#nextToSend += 1;
      const message = this.#queue[token - this.#base];
      if (message === undefined) continue;
      message.sentAt = now;
      this.#underWay += 1;
      const { subject, bytes } = message;
      try {
        this.#link.nc.publish(subject, bytes, { reply: this.#inbox.subject(token) });
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        const code = reason.includes("max_payload") ? "too-large" : "connection-closed";
        this.#fail(new CandorError(code, `An event on ${subject} can't be sent: ${reason}.`, { cause: error }));
        return;
      }
    }
    this.#check ??= setTimeout(() => {
      this.#checkAnswers();
    }, this.#answerMs).unref();
  }

  #take(token: number, answer: PublishAnswer): void {
    const message = this.#queue[token - this.#base];
    if (message === undefined || this.#failure !== undefined) return;
    switch (answer.type) {
      case "stored":
        this.#stored(token, message, answer.seq);
        return;
      case "later":
      case "silence":
        if (message.sentAt > 0) this.#sendAgain(answer);
        return;
      case "refused":
        this.#refuse(message.subject, answer);
        return;
      case "lost":
      case "collision":
      case "taken":
        this.#refuse(message.subject, { type: "refused", code: "server-failed", reason: "its subject is write-once" });
    }
  }

  #stored(token: number, message: Unanswered, seq: number): void {
    this.#queue[token - this.#base] = undefined;
    if (message.sentAt > 0) this.#underWay -= 1;
    while (this.#first < this.#end && this.#queue[this.#first - this.#base] === undefined) this.#first += 1;
    this.#nextToSend = Math.max(this.#nextToSend, this.#first);
    const answered = this.#first - this.#base;
    if (answered > 256 && answered * 2 > this.#queue.length) {
      this.#queue = this.#queue.slice(answered);
      this.#base = this.#first;
    }
    this.#pauseMs = shortestPauseMs;
    if (this.#trouble !== undefined) this.#setTrouble(undefined);
    message.onStored?.(seq);
    if (this.#waiters.length > 0) this.#wake();
    this.#pump();
  }

  #wake(): void {
    const first = this.#first;
    const ready = this.#waiters.filter(({ upTo }) => upTo <= first);
    if (ready.length === 0) return;
    this.#waiters = this.#waiters.filter(({ upTo }) => upTo > first);
    for (const { resolve } of ready) resolve();
  }

  /** The oldest unanswered message decides: the later ones had no longer to be answered. */
  #checkAnswers(): void {
    this.#check = undefined;
    const oldest = this.#queue[this.#first - this.#base];
    if (oldest === undefined || this.#failure !== undefined) return;
    const ageMs = oldest.sentAt > 0 ? performance.now() - oldest.sentAt : 0;
    if (ageMs >= this.#answerMs) this.#sendAgain({ type: "silence", reason: `no answer within ${this.#answerMs} ms` });
    const restMs = Math.max(1, this.#answerMs - ageMs);
    this.#check ??= setTimeout(() => {
      this.#checkAnswers();
    }, restMs).unref();
  }

  #sendAgain(answer: Doubt): void {
    if (this.pending === 0 || this.#retry !== undefined || this.#failure !== undefined) return;
    for (const message of this.#queue) if (message !== undefined) message.sentAt = 0;
    this.#underWay = 0;
    this.#nextToSend = this.#first;
    this.#setTrouble(troubleOf(answer, this.pending));
    this.#retry = setTimeout(() => {
      this.#resume();
    }, this.#pauseMs).unref();
    this.#pauseMs = Math.min(this.#pauseMs * 2, longestPauseMs);
  }

  #resume(): void {
    clearTimeout(this.#retry);
    this.#retry = undefined;
    this.#pump();
  }

  #setTrouble(trouble: CandorError | undefined): void {
    const isNews = trouble?.code !== this.#trouble?.code;
    this.#trouble = trouble;
    if (!isNews) return;
    this.#logger.warn({ code: trouble?.code }, trouble?.message ?? "events are stored again");
    this.#onTrouble?.(trouble);
  }

  #refuse(subject: string, answer?: Extract<PublishAnswer, { type: "refused" }>): void {
    if (!this.#queue.some((message) => message?.subject === subject)) return;
    const { code, reason } = answer ?? { code: "permission-denied" as const, reason: "no permission to publish it" };
    this.#fail(new CandorError(code, `The server won't store an event on ${subject}: ${reason}.`));
  }

  #fail(failure: CandorError): void {
    if (this.#failure !== undefined) return;
    this.#failure = failure;
    this.#stopWatching();
    clearTimeout(this.#retry);
    clearTimeout(this.#check);
    for (const { reject } of this.#waiters.splice(0)) reject(failure);
    for (const message of this.#queue) message?.onFailed?.(failure);
  }
}
