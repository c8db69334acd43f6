import {
  encodeQuarantineBody,
  encodeVerdictBody,
  type GuardRecord,
  type LogEntry,
  type StoredMessage,
} from "@candor/contract";
import { LaneFold, type HistoryNeed } from "@candor/guards";
import { admit, verifySignature } from "@candor/ledger";

/** A record that the log brings forth, in the order of its subject. */
export interface Expected {
  readonly kind: GuardRecord;
  readonly subject: string;
  readonly lane: number;
  /** Log sequence of the entry that brought it forth. */
  readonly seq: number;
  readonly body: Uint8Array;
}

export interface ReplayOptions {
  /** Public key of the operator. */
  readonly operator: string;
  /** The run to replay; all of them without it. */
  readonly run?: string | undefined;
  /** The task of that run whose entries are counted; the run is folded whole either way. */
  readonly task?: string | undefined;
  readonly history: (lane: number, need: HistoryNeed, belowSeq: number) => Promise<readonly LogEntry[]>;
  readonly onRecord: (record: Expected) => void;
}

/** Where run and task stand in a stored subject. */
const runToken = 3;
const taskToken = 4;

/** Folds the log again, as a guard does, and hands out what a guard should have said (B8). */
export class Replay {
  readonly #options: ReplayOptions;
  readonly #lanes = new Map<number, LaneFold>();
  readonly #opened = new Set<string>();
  /** Entries of the task or the run, or all. */
  entries = 0;

  constructor(options: ReplayOptions) {
    this.#options = options;
  }

  /** Runs that were opened. */
  get runs(): number {
    return this.#opened.size;
  }

  /** Takes the next message of the log. @returns a promise to await where a closed task has to be read again */
  take(message: StoredMessage, laneNumber: number): Promise<void> | undefined {
    const { run, task, operator } = this.#options;
    const fold = this.#lanes.get(laneNumber) ?? new LaneFold(laneNumber, { operator });
    this.#lanes.set(laneNumber, fold);
    // Runs share nothing, so one can be folded alone.
    const tokens = message.subject.split(".");
    if (run !== undefined && tokens[runToken] !== run) return undefined;
    if (task === undefined || tokens[taskToken] === task) this.entries += 1;
    const entry = admit(message);
    const need = fold.needsHistory(entry);
    if (need === undefined || !this.#opened.has(need.run)) {
      this.#fold(fold, laneNumber, entry);
      return undefined;
    }
    return this.#revive(fold, laneNumber, entry, need);
  }

  async #revive(fold: LaneFold, laneNumber: number, entry: LogEntry, first: HistoryNeed): Promise<void> {
    for (let need: HistoryNeed | undefined = first; need !== undefined;) {
      const history: readonly LogEntry[] = await this.#options.history(laneNumber, need, entry.seq);
      need = fold.revive(need, history, verifySignature);
    }
    this.#fold(fold, laneNumber, entry);
  }

  #fold(fold: LaneFold, lane: number, entry: LogEntry): void {
    // Only now: its own opening has no history.
    if (entry.type === "event" && entry.kind === "run-open") this.#opened.add(entry.event.run);
    for (const output of fold.fold(entry, verifySignature)) {
      if (output.type === "verdict") this.#emit("verdict", lane, entry, output.subject, encodeVerdictBody(output.body));
      else if (output.type === "quarantine")
        this.#emit("quarantine", lane, entry, output.subject, encodeQuarantineBody(output.body));
    }
  }

  #emit(kind: GuardRecord, lane: number, { seq }: LogEntry, subject: string, body: Uint8Array): void {
    this.#options.onRecord({ kind, subject, lane, seq, body });
  }
}
