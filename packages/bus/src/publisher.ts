import { setTimeout as pause } from "node:timers/promises";
import {
  CandorError,
  equalBytes,
  silentLogger,
  type ErrorCode,
  type Logger,
  type StoredMessage,
} from "@candor/contract";
import { untilConnected } from "./connection-watch.js";
import { readsFromLeader, type Link } from "./link.js";
import { readLastAfter, readNext } from "./look-up.js";
import { openAttempts, publishHeaders, type Attempts, type Expectation } from "./publish-attempt.js";
import { streamOf } from "./stored-at.js";

export interface PublishRequest {
  /** Subject to publish on. */
  readonly subject: string;
  readonly bytes: Uint8Array;
  /** Store it only if this is last (compare-and-set). Name the stored subject for anything published on `candor.in`. */
  readonly expect?: Expectation;
  /** Exact subject it is stored under, for reading back; by default that of `expect`, else the published one. */
  readonly storedSubject?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Total wait; 5,000 by default. */
  readonly timeoutMs?: number;
}

export type PublishOutcome =
  | {
      readonly type: "stored";
      /** Stream sequence. */
      readonly seq: number;
      /** The same bytes were stored by an earlier call or by somebody else, certainly not by this call. */
      readonly repeated?: true;
    }
  | {
      /** Something else was stored first. */
      readonly type: "lost";
      /** Last message on the subject of the expectation, where it was found. */
      readonly last: StoredMessage | undefined;
      /** False if an earlier attempt got no answer, so that the message may lie below the last one. */
      readonly certain: boolean;
    }
  | {
      /** The subject is write-once and holds something else. */
      readonly type: "taken";
      readonly existing: StoredMessage;
    };

const attemptMs = 1_000;
const longestAttemptMs = 4_000;
const shortestPauseMs = 2;
const longestPauseMs = 250;
/** A replica is behind its leader for milliseconds; after this long the message is not there. */
const lagMs = 2_000;

/** What is known so far about a message being published. */
interface Progress {
  readonly request: PublishRequest;
  readonly storedSubject: string;
  readonly deadline: number;
  /** An attempt got no answer: the message may be stored. */
  doubtful: boolean;
  code: ErrorCode;
  reason: string;
}

/**
 * Publishes messages one by one and says for certain what came of each, as far as that can be known: an attempt
 * without an answer is repeated with the same bytes, and read back where it was a compare-and-set. Exact duplicates,
 * which may come of it otherwise, are no findings.
 */
export class Publisher {
  readonly #link: Link;
  readonly #attempts: Attempts;
  readonly #logger: Logger;

  constructor(link: Link, logger: Logger = silentLogger) {
    this.#link = link;
    this.#attempts = openAttempts(link);
    this.#logger = logger;
  }

  /**
   * @returns where it is stored, or that another message was stored first
   * @throws CandorError `publish-unconfirmed` if no attempt was answered in time and it may be stored;
   *   `server-unreachable` or `store-full` if it is certainly not stored and may be tried again; `permission-denied`,
   *   `too-large`, `server-failed` or `connection-closed` if it is refused; `log-rolled-back` if the message that it
   *   expects to be last is gone
   */
  async publish(request: PublishRequest): Promise<PublishOutcome> {
    const { subject, bytes, expect, timeoutMs = 5_000 } = request;
    const message = { subject, bytes, headers: publishHeaders(expect, request.headers) };
    const progress: Progress = {
      request,
      storedSubject: request.storedSubject ?? expect?.subject ?? subject,
      deadline: performance.now() + timeoutMs,
      doubtful: false,
      code: "server-unreachable",
      reason: "not connected",
    };
    for (let attempt = 1; ; attempt += 1) {
      const leftMs = progress.deadline - performance.now();
      if (leftMs <= 0) throw unconfirmed(progress, timeoutMs);
      const waitMs = Math.min(attemptMs * attempt, longestAttemptMs, leftMs);
      const answer = await this.#attempts.attempt(message, waitMs);
      switch (answer.type) {
        case "stored":
          return answer;
        case "lost": {
          const outcome = answer.last >= (expect?.sequence ?? 0) ? await this.#resolveLoss(progress) : undefined;
          if (outcome !== undefined) return outcome;
          progress.code = "log-rolled-back";
          progress.reason = `the last message on ${expect?.subject ?? subject} is ${answer.last}, not ${expect?.sequence ?? 0}`;
          break;
        }
        case "collision": {
          const outcome = await this.#resolveCollision(progress);
          if (outcome !== undefined) return outcome;
          progress.code = "server-unreachable";
          progress.reason = "other messages on the subject kept being under way";
          break;
        }
        case "taken": {
          const outcome = await this.#resolveTaken(progress);
          if (outcome !== undefined) return outcome;
          progress.reason = "its subject is write-once and written, but what is there can't be read yet";
          break;
        }
        case "refused":
          throw refusedError(progress, answer.code, answer.reason);
        case "later":
          progress.code = answer.code;
          progress.reason = answer.reason;
          break;
        case "silence":
          progress.doubtful = true;
          progress.code = "publish-unconfirmed";
          progress.reason = answer.reason;
          break;
      }
      this.#logger.debug({ subject, attempt, reason: progress.reason }, "publishing again");
      await untilConnected(this.#link.nc, Math.max(0, progress.deadline - performance.now()));
      await pause(Math.random() * Math.min(shortestPauseMs * 2 ** attempt, longestPauseMs));
    }
  }

  close(): void {
    this.#attempts.close();
  }

  /** The last message of the expectation's subject decides whether the lost race was lost to ourselves. */
  async #resolveLoss(progress: Progress): Promise<PublishOutcome | undefined> {
    const { request, storedSubject, doubtful } = progress;
    const { sequence = 0, subject: compared = request.subject } = request.expect ?? {};
    const last = await this.#readAfter(progress, compared, sequence);
    if (last === undefined || last.seq <= sequence) return undefined;
    if (compared === storedSubject) {
      if (equalBytes(last.data, request.bytes)) {
        return { type: "stored", seq: last.seq, ...(doubtful ? {} : { repeated: true as const }) };
      }
      if (doubtful && readsFromLeader(this.#link)) {
        const winner = await readNext(this.#link, streamOf(compared), compared, sequence + 1);
        if (winner !== undefined && equalBytes(winner.data, request.bytes)) return { type: "stored", seq: winner.seq };
        return { type: "lost", last, certain: true };
      }
    } else if (doubtful) {
      const own = await this.#readAfter(progress, storedSubject, sequence);
      if (own !== undefined && equalBytes(own.data, request.bytes)) return { type: "stored", seq: own.seq };
    }
    return { type: "lost", last, certain: !doubtful };
  }

  /** A collision is often with a message that fails: only a newer last message means that the race is lost. */
  async #resolveCollision(progress: Progress): Promise<PublishOutcome | undefined> {
    const { sequence = 0, subject: compared = progress.request.subject } = progress.request.expect ?? {};
    const last = await this.#readAfter(progress, compared, sequence, 0);
    return last !== undefined && last.seq > sequence ? this.#resolveLoss(progress) : undefined;
  }

  async #resolveTaken(progress: Progress): Promise<PublishOutcome | undefined> {
    const existing = await this.#readAfter(progress, progress.storedSubject, 0);
    if (existing === undefined) return undefined;
    if (equalBytes(existing.data, progress.request.bytes)) return { type: "stored", seq: existing.seq };
    return { type: "taken", existing };
  }

  #readAfter(progress: Progress, subject: string, after: number, patience = lagMs): Promise<StoredMessage | undefined> {
    const leftMs = Math.max(0, progress.deadline - performance.now());
    return readLastAfter(this.#link, streamOf(subject), subject, after, Math.min(patience, leftMs));
  }
}

function refusedError({ request, doubtful }: Progress, code: ErrorCode, reason: string): CandorError {
  const hints: Partial<Record<ErrorCode, string>> = {
    "permission-denied": "An identity publishes only under its own subjects; check which credentials are in use",
    "too-large": "Shorten it or store the bulk elsewhere",
    "connection-closed": "Connect again",
  };
  const hint = hints[code] ?? "Check the server and its streams";
  const state = doubtful ? "an earlier attempt got no answer, so look it up before anything else" : "it is not stored";
  return new CandorError(
    code,
    `The server won't store a message on ${request.subject} (${reason}): ${state}. ${hint}.`,
  );
}

function unconfirmed({ request, doubtful, code, reason }: Progress, timeoutMs: number): CandorError {
  if (doubtful) {
    return new CandorError(
      "publish-unconfirmed",
      `A message on ${request.subject} got no answer within ${timeoutMs} ms (${reason}): it may be stored or not. Look it up, or publish the same bytes again.`,
    );
  }
  const hints: Partial<Record<ErrorCode, string>> = {
    "store-full": "The store is at its limit: have the operator make room",
    "log-rolled-back": "The stream has lost messages that were stored: stop and tell the operator",
  };
  const hint =
    hints[code] ?? 'Check that the server runs, has a leader and has its streams ("candor streams apply --check")';
  return new CandorError(
    code,
    `A message on ${request.subject} could not be stored within ${timeoutMs} ms (${reason}). ${hint}.`,
  );
}
