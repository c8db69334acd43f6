import type { CandorError, Logger, StoredMessage } from "@candor/contract";

export interface LaneReaderOptions {
  readonly stream: string;
  /** Subject filters, `candor.log.<lane>.>` for a lane; they must not overlap. The whole stream without one. */
  readonly filter?: string | readonly string[];
  /** First stream sequence wanted; 1 by default. */
  readonly from?: number;
  /**
   * Gets the messages in order, each once. While a promise that it returns is pending, nothing more is handed over. Data and headers are views into what arrived: copy what is kept for long.
   */
  readonly onMessages: (batch: readonly StoredMessage[]) => void | Promise<void>;
  /**
   * Called with the sequence of the last message handed over (`from - 1` at first) before reading begins or begins
   * anew: at the start, after an interruption, and when the consumer had to be made again. Says whether the log is
   * still the one that was read.
   * @throws CandorError `log-rolled-back`, `log-truncated` or `log-altered` to halt the reader
   */
  readonly checkBefore?: (position: number) => Promise<void>;
  /**
   * The reader has stopped for good and says why: what `checkBefore` threw, `permission-denied`, `connection-closed`, or
   * `log-truncated` with the sequence in its details where the server counts a message that it does not hand out.
   */
  readonly onHalt: (error: CandorError) => void;
  /** A consumer is made: reading begins, or begins anew. */
  readonly onOpen?: () => void;
  /**
   * How long, in ms, the server may go on refusing a consumer (too many are there, say) until the reader halts with the
   * server's reason; for ever without it. A server that does not answer, or is away, is waited for in any case.
   */
  readonly refusalPatienceMs?: number;
  /** Messages asked for and not yet handed over; 1,024 by default. */
  readonly maxOutstanding?: number;
  /** Heartbeats while nothing is stored; 1,000 by default. After two of silence the consumer is made anew. */
  readonly heartbeatMs?: number;
  readonly logger?: Logger;
}
