import { CandorError, type EventKind } from "@candor/contract";
import { decodeSpoolRecord, type Expectation, type SpoolRecord } from "./spool-record.js";

export interface SpooledEvent {
  readonly seq: number;
  readonly kind: EventKind;
  readonly frame: Uint8Array;
  readonly expect: Expectation | undefined;
  /** Stream sequence at which the log has it; undefined while that is not known. */
  readonly sequence: number | undefined;
  /** How many interruptions there were before it was found to be stored. */
  readonly interruptions: number;
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
  /** Start of the machine that the last records were written since; undefined if it is not known. */
  boot: string | undefined;
  /** Times at which the log may have become another one. */
  interruptions = 0;
  /** How many of them the log was compared after. */
  compared = 0;

  /** @throws CandorError `spool-lost` if the records do not follow from one another. */
  static from(records: readonly Uint8Array[]): SpoolContent {
    const content = new SpoolContent();
    for (const bytes of records) {
      const record = decodeSpoolRecord(bytes);
      if (record === undefined || !content.#take(record)) throw unreadable();
    }
    return content;
  }

  /** Events that the log is not known to have, in order. The last may be one that goes out behind an expectation. */
  get unstored(): SpooledEvent[] {
    return this.events.filter(({ sequence }) => sequence === undefined);
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
        this.events.push({ ...record, expect: record.expect, sequence: undefined, interruptions: 0 });
        return true;
      case "boot":
        this.boot = record.id;
        return true;
      case "stored": {
        const event = this.events[record.seq - 1];
        if (event === undefined) return false;
        this.events[record.seq - 1] = { ...event, sequence: record.sequence, interruptions: this.interruptions };
        return true;
      }
      case "interrupted":
        this.interruptions += 1;
        return true;
      case "compared":
        this.#forget(record);
        return record.interruptions <= this.interruptions;
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

  /** The log lost them, so they are as good as never sent; their number is theirs for good, so no fence holds any more. */
  #forget({ interruptions, after }: Extract<SpoolRecord, { type: "compared" }>): void {
    this.compared = Math.max(this.compared, interruptions);
    for (const [index, event] of this.events.entries()) {
      const isSafe = event.sequence === undefined || event.sequence <= after || event.interruptions >= interruptions;
      // The acceptance is never lost alone: without it the log is another one.
      if (isSafe || index === 0) continue;
      this.events[index] = { ...event, expect: undefined, sequence: undefined };
    }
  }
}

function unreadable(): CandorError {
  return new CandorError(
    "spool-lost",
    "The spool holds records that do not follow from one another, or that a newer version wrote: ask the orchestrator to delegate the task again.",
  );
}
