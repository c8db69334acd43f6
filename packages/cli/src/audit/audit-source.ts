import type { LogEntry, StoredMessage } from "@candor/contract";
import type { HistoryNeed } from "@candor/guards";

/** Takes messages in stream order; nothing more comes while what it returns is pending. */
export type TakeMessages = (batch: readonly StoredMessage[]) => Promise<void> | undefined;

/** Where an audit reads. */
export interface AuditSource {
  /** Number of lanes of the log. */
  readonly lanes: number;
  /**
   * Reads the whole log as it is now. What can't be read is left out.
   * @returns its last sequence, whether that can be read or not
   */
  readonly readLog: (take: TakeMessages) => Promise<number>;
  /**
   * Reads what guards have said so far, from a sequence of the verdict stream on. What can't be read is left out.
   * @returns its last sequence, whether that can be read or not
   */
  readonly readRecords: (from: number, take: TakeMessages) => Promise<number>;
  /** Entries of a run itself and of one of its tasks below a sequence, in log order. */
  readonly history: (lane: number, need: HistoryNeed, belowSeq: number) => Promise<readonly LogEntry[]>;
}
