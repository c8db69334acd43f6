import type { LogEntry, StoredMessage } from "@candor/contract";
import type { HistoryNeed } from "@candor/guards";

/** Takes messages in stream order; nothing more comes while what it returns is pending. */
export type TakeMessages = (batch: readonly StoredMessage[]) => Promise<void> | undefined;

/** What there is of a stream, whether it can be read or not. */
export interface StreamEnd {
  /** 0 for an empty stream. */
  readonly lastSeq: number;
  /** What the server dropped of it when it recovered it, in bytes. */
  readonly lostBytes: number;
}

/** Where an audit reads. */
export interface AuditSource {
  /** Number of lanes of the log. */
  readonly lanes: number;
  /** Reads the whole log as it is now. What can't be read is left out. */
  readonly readLog: (take: TakeMessages) => Promise<StreamEnd>;
  /** Last sequence of the log now. */
  readonly logEnd: () => Promise<number>;
  /** Reads what guards have said so far, from a sequence of the verdict stream on. What can't be read is left out. */
  readonly readRecords: (from: number, take: TakeMessages) => Promise<StreamEnd>;
  /** Entries of a run itself and of one of its tasks (or all of the run) below a sequence, in log order. */
  readonly history: (lane: number, need: HistoryNeed, belowSeq: number) => Promise<readonly LogEntry[]>;
  /** Whether a guard runs a lane now and goes on, so that what is missing may yet come. */
  readonly isGuarded: (lane: number) => Promise<boolean>;
}
