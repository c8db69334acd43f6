import type { CandorError, Certificate, GuardRecord, Logger } from "@candor/contract";

export interface VerdictWriterOptions {
  readonly lane: number;
  readonly certificate: Certificate;
  /** The guard's signature over a record, 64 bytes. */
  readonly sign: (kind: GuardRecord, body: Uint8Array) => Uint8Array | Promise<Uint8Array>;
  /**
   * Another guard stored something else in a record's place (`guard-divergence`, with `subject`, `ordinal` and `seq` in
   * its details). Nothing more is stored on that subject.
   */
  readonly onDivergence: (error: CandorError) => void;
  /** The writer has stopped for good: `log-rolled-back`, `permission-denied`, `connection-closed`, `server-failed`. */
  readonly onFault: (error: CandorError) => void;
  /** Called after records were stored or adopted, so that a caller who waits for room looks again. */
  readonly onProgress?: () => void;
  /** 20 by default. */
  readonly standbyMs?: number;
  /** Subjects on which a record may be under way at a time; 256 by default. */
  readonly maxUnderWay?: number;
  /** How long an answer may take before the record is sent again; 2,000 by default. */
  readonly answerMs?: number;
  readonly logger?: Logger;
}

export interface VerdictWriterStats {
  /** Records stored by this writer. */
  stored: number;
  /** Records found stored already, with the same body. */
  adopted: number;
  /** Records that somebody else stored while this writer was sending its own. */
  lost: number;
  /** Attempts repeated since an answer stayed out or the server could not store. */
  repeated: number;
  diverged: number;
}
