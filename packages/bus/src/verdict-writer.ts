import { CandorError, equalBytes, isCandorError, silentLogger, type Logger } from "@candor/contract";
import type { StoredRecord, UnsignedRecord } from "./stored-record.js";
import type { Link } from "./link.js";
import type { PublishAnswer } from "./publish-answer.js";
import { RecentMap } from "./recent-map.js";
import { first, newLine, settleFirst, type Head, type RecordLine } from "./record-line.js";
import { findPlace } from "./record-place.js";
import { RecordSender } from "./record-sender.js";
import { divergence, recordRefused, verdictsRolledBack } from "./record-faults.js";
import { RecordTurns } from "./record-turns.js";
import type { VerdictWriterOptions, VerdictWriterStats } from "./verdict-writer-options.js";

const headsKept = 16_384;
const shortestPauseMs = 5;
const longestPauseMs = 1_000;
/** A new leader may be behind for a moment; a record that stays away for longer is gone. */
const behindMs = 5_000;

/**
 * Stores a lane's guard records, each once and in order on its subject, whatever happens and whoever else does the same:
 * every record is a compare-and-set against the one before it on its subject. Who loses compares the body and adopts.
 * One record a subject is under way, many subjects are. An attempt without an answer is repeated until it is known
 * what came of it, however long the server is away or its disk full.
 */
export class VerdictWriter {
  readonly #link: Link;
  readonly #options: VerdictWriterOptions;
  readonly #logger: Logger;
  readonly #sender: RecordSender;
  readonly #turns: RecordTurns;
  readonly #lines = new Map<string, RecordLine>();
  readonly #heads = new RecentMap<string, Head>(headsKept);
  readonly #diverged = new Set<string>();
  #pending = 0;
  #drainers: { readonly resolve: () => void; readonly reject: (error: CandorError) => void }[] = [];
  #failure: CandorError | undefined;
  readonly stats: VerdictWriterStats = { stored: 0, adopted: 0, lost: 0, repeated: 0, diverged: 0 };

  constructor(link: Link, options: VerdictWriterOptions) {
    const { lane, standbyMs = 20, maxUnderWay = 256, answerMs = 2_000, logger = silentLogger } = options;
    this.#link = link;
    this.#options = options;
    this.#logger = logger;
    const onTurn = this.#takeTurn.bind(this);
    this.#turns = new RecordTurns(link, { lane, standbyMs, maxUnderWay, logger, onTurn });
    this.#sender = new RecordSender(link, {
      certificate: options.certificate,
      sign: options.sign,
      answerMs,
      onAnswer: this.#answer.bind(this),
      onFault: this.#fail.bind(this),
    });
  }

  /** Records handed over that are neither stored nor adopted yet. */
  get pending(): number {
    return this.#pending;
  }

  /** True while another guard stores this lane's records and this one only watches. */
  get isStandby(): boolean {
    return this.#turns.isStandby;
  }

  /** Takes a record over; those of one subject in the order of their ordinals, without a gap. */
  write(record: UnsignedRecord): void {
    if (this.#failure !== undefined) return;
    const { subject } = record;
    if (this.#diverged.has(subject)) {
      record.onSettled?.();
      return;
    }
    this.#pending += 1;
    const line = this.#lines.get(subject);
    if (line !== undefined) {
      line.records.push(record);
      return;
    }
    const fresh = newLine(record, this.#heads.get(subject));
    this.#lines.set(subject, fresh);
    this.#turns.add(fresh);
  }

  /**
   * Resolves once everything handed over so far, and whatever comes meanwhile, is stored or adopted.
   * @throws CandorError what stopped the writer
   */
  drain(): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (this.#pending === 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#drainers.push({ resolve, reject });
    });
  }

  /** Stops at once; what is pending is left to another guard, or to the next start. */
  close(): void {
    this.#end(new CandorError("connection-closed", "The writer was closed with verdicts still to be stored."));
  }

  #takeTurn(line: RecordLine, heard: StoredRecord | undefined): void {
    const { ordinal } = first(line);
    const { before } = line;
    if (heard !== undefined) this.#settleBy(line, heard, true);
    else if (line.top > (before?.seq ?? 0)) void this.#look(line);
    else if (ordinal === 1) this.#sender.send(line, 0);
    else if (before?.ordinal === ordinal - 1) this.#sender.send(line, before.seq);
    else void this.#look(line);
  }

  /** Finds out what is stored in the place of a line's first record. */
  async #look(line: RecordLine): Promise<void> {
    const { ordinal } = first(line);
    try {
      const place = await findPlace(this.#link, line.subject, ordinal, line.before);
      if (this.#failure !== undefined) return;
      if (place.type === "free") {
        if (line.top > place.after && line.pauseMs < longestPauseMs) {
          this.#lookAgain(line, `it was lost to ${line.top}, which is not there yet`);
          return;
        }
        line.top = place.after;
        this.#sender.send(line, place.after);
      } else if (place.type === "occupied") this.#settleBy(line, place.record, false);
      else this.#missBefore(line, place.last);
    } catch (error) {
      if (isCandorError(error, "malformed", "permission-denied", "connection-closed")) this.#fail(error);
      else {
        line.behindSince = 0;
        this.#lookAgain(line, reasonOf(error));
      }
    }
  }

  #answer(line: RecordLine, answer: PublishAnswer): void {
    if (this.#failure !== undefined) return;
    if (answer.type !== "lost") line.behindSince = 0;
    switch (answer.type) {
      case "stored":
        this.stats.stored += 1;
        this.#settle(line, answer.seq);
        return;
      case "lost":
        this.#lose(line, answer.last);
        return;
      case "collision":
        this.#lookAgain(line, "another record is under way on its subject");
        return;
      case "later":
      case "silence":
        this.#again(line, answer.reason, () => {
          this.#sender.send(line, line.expected);
        });
        return;
      case "refused":
        this.#fail(recordRefused(line.subject, answer.code, answer.reason));
        return;
      case "taken":
        this.#fail(recordRefused(line.subject, "server-failed", "its subject is write-once"));
    }
  }

  #lose(line: RecordLine, last: number): void {
    if (last < line.expected) {
      this.#missBefore(line, last);
      return;
    }
    this.stats.lost += 1;
    line.behindSince = 0;
    line.top = Math.max(line.top, last);
    const heard = this.#turns.heard(line);
    if (heard === undefined) void this.#look(line);
    else this.#settleBy(line, heard, true);
  }

  /** @param isLive it was heard of just now, so whoever stored it is at work */
  #settleBy(line: RecordLine, record: StoredRecord, isLive: boolean): void {
    this.#turns.noteOther(isLive);
    if (!equalBytes(record.body, first(line).body)) {
      this.#diverge(line, record);
      return;
    }
    this.stats.adopted += 1;
    this.#settle(line, record.seq);
  }

  #settle(line: RecordLine, seq: number): void {
    const { subject, records } = line;
    const { onSettled } = first(line);
    this.#turns.heard(line);
    this.#heads.set(subject, settleFirst(line, seq));
    onSettled?.();
    if (records.length > 0) this.#turns.add(line);
    else this.#lines.delete(subject);
    this.#finish(1);
  }

  #diverge(line: RecordLine, record: StoredRecord): void {
    const { subject, records } = line;
    const { ordinal, seq } = record;
    this.stats.diverged += 1;
    this.#diverged.add(subject);
    this.#lines.delete(subject);
    this.#heads.delete(subject);
    for (const { onSettled } of records) onSettled?.();
    this.#finish(records.length);
    this.#options.onDivergence(divergence(subject, ordinal, seq));
  }

  #finish(records: number): void {
    this.#pending -= records;
    this.#turns.release();
    this.#options.onProgress?.();
    if (this.#pending === 0) for (const { resolve } of this.#drainers.splice(0)) resolve();
  }

  #lookAgain(line: RecordLine, reason: string): void {
    this.#again(line, reason, () => void this.#look(line));
  }

  /** Tries again after a pause, longer each time. */
  #again(line: RecordLine, reason: string, action: () => void): void {
    this.stats.repeated += 1;
    line.pauseMs = Math.min(Math.max(line.pauseMs * 2, shortestPauseMs), longestPauseMs);
    const { subject, pauseMs } = line;
    const level = pauseMs === longestPauseMs ? "warn" : "debug";
    this.#logger[level]({ subject, pauseMs, pending: this.#pending }, `a verdict is not stored yet: ${reason}`);
    setTimeout(
      () => {
        if (this.#failure === undefined) action();
      },
      pauseMs * (0.5 + Math.random() / 2),
    );
  }

  #missBefore(line: RecordLine, last: number): void {
    const now = performance.now();
    if (line.behindSince === 0) line.behindSince = now;
    if (now - line.behindSince < behindMs) {
      this.#lookAgain(line, `the record before it is not there (the last is at ${last})`);
      return;
    }
    this.#fail(verdictsRolledBack(line.subject, first(line).ordinal, last));
  }

  #fail(error: CandorError): void {
    if (this.#failure !== undefined) return;
    this.#end(error);
    this.#options.onFault(error);
  }

  #end(error: CandorError): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    this.#sender.close();
    this.#turns.close();
    const drainers = this.#drainers.splice(0);
    if (this.#pending === 0) for (const { resolve } of drainers) resolve();
    else for (const { reject } of drainers) reject(error);
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
