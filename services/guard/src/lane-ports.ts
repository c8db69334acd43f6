import type { CandorError, LogEntry, StoredMessage } from "@candor/contract";
import type { HistoryNeed, Output, TimerRequest } from "@candor/guards";
import type { CheckpointStore } from "./checkpointer.js";
import type { RecordCounts } from "./lane-metrics.js";
import type { LogPlace } from "./log-place.js";
import type { SignatureThreads } from "./signature-threads.js";

/** What a guard publishes about a message: a verdict, or that it was refused. */
export type GuardOutput = Extract<Output, { type: "verdict" | "quarantine" }>;

/** Stores records by compare-and-set, each once whatever happens, in order on each subject. */
export interface RecordSink {
  /** Takes a record; it is stored or adopted some time later. */
  readonly put: (output: GuardOutput) => void;
  /** So many records are under way that no more should come until `onRoom`. */
  readonly isFull: boolean;
  /** Records that are put and not yet stored or adopted. */
  readonly underWay: number;
  /** Another guard stores this lane's records at present. */
  readonly isStandby: boolean;
  readonly counts: RecordCounts;
  /** Resolves once every record put so far is stored or adopted: true; or with false if the sink was stopped before. */
  readonly settled: () => Promise<boolean>;
  readonly close: () => void;
}

export interface SinkEvents {
  readonly onRoom: () => void;
  /** Another guard stored something else on a subject, named in the details; nothing more is published there. */
  readonly onDivergence: (error: CandorError) => void;
  readonly onFault: (error: unknown) => void;
}

/** Reads one lane from its first message on, in order, without a gap. */
export interface LaneSource {
  /** Messages that are stored and not delivered yet. */
  readonly pending: number;
  /** Why the lane can't be read at present. */
  readonly trouble: CandorError | undefined;
  readonly close: () => Promise<void>;
}

export interface SourceEvents {
  /** The lane is read now, for the first time or after an interruption. */
  readonly onReading: () => void;
  /** The message that must be in the log still, before it is read at start, reconnect and re-open. */
  readonly knownPlace: () => LogPlace | undefined;
  /** The server's time in ms, received just now. */
  readonly onServerTime: (timeMs: number) => void;
  /**
   * @param pending messages of the lane that are not delivered yet
   * @returns a promise to await before more are delivered
   */
  readonly onMessages: (batch: readonly StoredMessage[], pending: number) => Promise<void> | undefined;
  /** Everything that was stored is delivered. */
  readonly onCaughtUp: () => void;
  readonly onFault: (error: unknown) => void;
}

/** What a lane needs of the world. */
export interface LanePorts {
  readonly openSource: (events: SourceEvents) => LaneSource;
  readonly openSink: (events: SinkEvents) => RecordSink;
  readonly checkpoints: CheckpointStore;
  /** The entries of a run itself and of one of its tasks below a sequence, in log order; tries until it can. */
  readonly readHistory: (need: HistoryNeed, belowSeq: number) => Promise<readonly LogEntry[]>;
  readonly threads: SignatureThreads;
  readonly publishTimer: (request: TimerRequest, atMs: number) => void;
}
