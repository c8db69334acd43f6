import { CandorError, type EventKind } from "@candor/contract";
import { decodeSpoolRecord, type Expectation, type SpoolRecord } from "./spool-record.js";

export interface SpooledEvent {
  readonly seq: number;
  readonly kind: EventKind;
  readonly frame: Uint8Array;
  readonly expect: Expectation | undefined;
  /** Stream sequence at which the log has it; undefined while that is not known. */
  readonly sequence: number | undefined;
}

/** What an earlier process left in a spool, read record by record. */
export class SpoolContent {
  opened: Extract<SpoolRecord, { type: "opened" }> | undefined;
  /** In order, numbered 1, 2, 3 …, without those that the server refused. */
  readonly events: SpooledEvent[] = [];
  /** Encrypted results of effects by intent key. */
  readonly results = new Map<string, { readonly dispatch: number; readonly result: Uint8Array }>();
  /** Intent keys whose `done` record is stored. */
  readonly done = new Set<string>();

  /** @throws CandorError `spool-lost` if the records do not follow from one another. */
  static from(records: readonly Uint8Array[]): SpoolContent {
    const content = new SpoolContent();
    for (const bytes of records) {
      const record = decodeSpoolRecord(bytes);
      if (record === undefined || !content.#take(record)) throw unreadable();
    }
    return content;
  }

  get isFresh(): boolean {
    return this.events.length === 0;
  }

  /** False for a record that can't follow those before it. */
  #take(record: SpoolRecord): boolean {
    if (record.type !== "opened" && this.opened === undefined) return false;
    switch (record.type) {
      case "opened":
        this.opened ??= record;
        return true;
      case "event":
        if (record.seq !== this.events.length + 1) return false;
        this.events.push({ ...record, expect: record.expect, sequence: undefined });
        return true;
      case "stored": {
        const event = this.events[record.seq - 1];
        if (event === undefined) return false;
        this.events[record.seq - 1] = { ...event, sequence: record.sequence };
        return true;
      }
      case "refused":
        // Only the last event can have been refused: nothing is appended while that is open.
        if (record.seq !== this.events.length) return false;
        this.events.pop();
        return true;
      case "result":
        this.results.set(record.key, record);
        return true;
      case "done":
        this.done.add(record.key);
        return true;
    }
  }
}

function unreadable(): CandorError {
  return new CandorError(
    "spool-lost",
    "The spool holds records that do not follow from one another, or that a newer version wrote: ask the orchestrator to delegate the task again.",
  );
}
