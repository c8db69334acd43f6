import type { EventKind } from "@candor/contract";
import { createSeed, createSigner, type Signer } from "@candor/ledger";
import type { RecorderSpool } from "../recorder-spool.js";
import { SpoolContent } from "../spool/spool-content.js";
import { encodeSpoolRecord, type Expectation, type SpoolRecord } from "../spool/spool-record.js";

/** A spool whose records lie in memory; `reopen` is what a new process would find. */
export class MemorySpool implements RecorderSpool {
  readonly signer: Signer;
  readonly records: Uint8Array[];
  readonly content: SpoolContent;

  constructor(records: readonly Uint8Array[] = [], signer: Signer = createSigner(createSeed())) {
    this.signer = signer;
    this.records = [...records];
    if (records.length === 0) this.write({ type: "opened", delegation: new Uint8Array(32), taskKey: signer.publicKey });
    this.content = SpoolContent.from(this.records);
  }

  reopen(): MemorySpool {
    return new MemorySpool(this.records, this.signer);
  }

  event(seq: number, kind: EventKind, frame: Uint8Array, expect?: Expectation): void {
    this.write({ type: "event", seq, kind, frame, ...(expect === undefined ? {} : { expect }) });
  }

  write(record: SpoolRecord): void {
    this.records.push(encodeSpoolRecord(record));
  }

  note(record: SpoolRecord): void {
    this.write(record);
  }

  flushSoon(): void {
    // Memory is as good as it gets.
  }

  sync(): Promise<void> {
    return Promise.resolve();
  }
}
