import type { Logger } from "@candor/contract";
import type { StoredRecord } from "./stored-record.js";
import type { Link } from "./link.js";
import { LiveRecords } from "./live-records.js";
import { first, type RecordLine } from "./record-line.js";
import { Standby } from "./standby.js";

export interface RecordTurnsOptions {
  readonly lane: number;
  readonly standbyMs: number;
  readonly maxUnderWay: number;
  /** The first record of a line is to be stored, unless it is heard of as stored already. */
  readonly onTurn: (line: RecordLine, heard: StoredRecord | undefined) => void;
  readonly logger: Logger;
}

/**
 * Decides when a line's first record has its turn: at once while this writer stores the lane's records and not too many
 * are under way; else when it is heard of, or was not heard of in time.
 */
export class RecordTurns {
  readonly #options: RecordTurnsOptions;
  readonly #live: LiveRecords;
  readonly #standby: Standby;
  /** In order of coming. */
  readonly #ready = new Set<RecordLine>();
  /** Lines that wait for another guard's record, by subject, in order of `dueAt`. */
  readonly #waiting = new Map<string, RecordLine>();
  #underWay = 0;
  #isPumping = false;
  #over = false;

  constructor(link: Link, options: RecordTurnsOptions) {
    const { lane, standbyMs, logger } = options;
    this.#options = options;
    this.#live = new LiveRecords(link, lane, this.#hear.bind(this), logger);
    this.#standby = new Standby({
      standbyMs,
      onTakeOver: this.#takeOver.bind(this),
      onAlone: () => {
        this.#live.stop();
      },
    });
  }

  /** True while another guard stores this lane's records. */
  get isStandby(): boolean {
    return this.#standby.isOn;
  }

  add(line: RecordLine): void {
    if (this.#isPumping || this.#ready.size > 0 || this.#underWay >= this.#options.maxUnderWay) {
      this.#ready.add(line);
      return;
    }
    this.#isPumping = true;
    this.#begin(line);
    this.#isPumping = false;
    if (this.#ready.size > 0) this.#pump();
  }

  /** A record that had its turn is settled. */
  release(): void {
    this.#underWay -= 1;
    if (this.#ready.size > 0) this.#pump();
  }

  /** Hands out the record in the place of a line's first, if it was heard of. */
  heard(line: RecordLine): StoredRecord | undefined {
    return this.#live.isListening ? this.#live.take(line.subject, first(line).ordinal) : undefined;
  }

  /** @param isLive it was heard of, so whoever stored it is at work just now */
  noteOther(isLive: boolean): void {
    this.#live.start();
    if (isLive) this.#standby.begin();
    else this.#standby.noteOther();
  }

  close(): void {
    this.#over = true;
    this.#standby.close();
    this.#live.stop();
  }

  #pump(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    for (const line of this.#ready) {
      if (this.#underWay >= this.#options.maxUnderWay || this.#over) break;
      this.#ready.delete(line);
      this.#begin(line);
    }
    this.#isPumping = false;
  }

  #begin(line: RecordLine): void {
    const heard = this.heard(line);
    if (heard === undefined && this.#standby.isOn && !line.isDue) {
      line.dueAt = this.#standby.dueAt();
      this.#waiting.set(line.subject, line);
      this.#standby.watch(line.dueAt);
      return;
    }
    this.#underWay += 1;
    this.#options.onTurn(line, heard);
  }

  #hear({ subject, ordinal }: StoredRecord): void {
    const line = this.#waiting.get(subject);
    if (line === undefined || first(line).ordinal !== ordinal) return;
    this.#waiting.delete(subject);
    this.add(line);
  }

  /** Either the line that waits the longest is still in time, or nobody stores them. */
  #takeOver(): void {
    const [eldest] = this.#waiting.values();
    if (eldest === undefined || this.#over) return;
    if (eldest.dueAt > performance.now() + 1) {
      this.#standby.watch(eldest.dueAt);
      return;
    }
    const { lane, logger } = this.#options;
    logger.info({ lane }, "no other guard stores this lane's verdicts: taking over");
    this.#standby.end();
    const lines = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const line of lines) {
      line.isDue = true;
      this.#ready.add(line);
    }
    this.#pump();
  }
}
