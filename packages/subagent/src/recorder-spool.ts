import type { EventKind } from "@candor/contract";
import type { Signer } from "@candor/ledger";
import type { Expectation } from "./ports.js";
import type { SpoolContent } from "./spool/spool-content.js";
import type { SpoolRecord } from "./spool/spool-record.js";

/** What the recorder needs of a spool. */
export interface RecorderSpool {
  readonly signer: Signer;
  readonly content: SpoolContent;
  event(seq: number, kind: EventKind, frame: Uint8Array, expect?: Expectation): void;
  write(record: SpoolRecord): void;
  /** Appends what may be missing after a crash: with the next record, or within a moment. */
  note(record: SpoolRecord): void;
  sync(): Promise<void>;
  /** Sees to it that everything appended so far is on disk within some milliseconds. */
  flushSoon(): void;
}
