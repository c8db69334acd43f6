import type { Subscription } from "@nats-io/transport-node";
import { silentLogger, type Logger } from "@candor/contract";
import { readRecord, type StoredRecord } from "./stored-record.js";
import type { Link } from "./link.js";
import { readLive } from "./live.js";
import { RecentMap } from "./recent-map.js";
import { surfacing } from "./surfacing.js";

/** Records kept until the own fold comes to them; beyond this many, the eldest is looked up again when it is needed. */
const maxKept = 8_192;

/** Listens to what all guards store on one lane, to know of records before the own fold comes to them. */
export class LiveRecords {
  readonly #link: Link;
  readonly #lane: number;
  readonly #onRecord: (record: StoredRecord) => void;
  readonly #logger: Logger;
  readonly #kept = new RecentMap<string, StoredRecord>(maxKept);
  #subscriptions: Subscription[] = [];

  constructor(link: Link, lane: number, onRecord: (record: StoredRecord) => void, logger: Logger = silentLogger) {
    this.#link = link;
    this.#lane = lane;
    this.#onRecord = onRecord;
    this.#logger = logger;
  }

  get isListening(): boolean {
    return this.#subscriptions.length > 0;
  }

  start(): void {
    if (this.isListening || this.#link.nc.isClosed()) return;
    const take = surfacing(this.#take.bind(this));
    this.#subscriptions = ["vd", "quarantine"].map((kind) =>
      this.#link.nc.subscribe(`candor.live.${kind}.${this.#lane}.>`, {
        callback: (error, message) => {
          if (error === null) take(message);
        },
      }),
    );
  }

  stop(): void {
    if (!this.#link.nc.isClosed()) for (const subscription of this.#subscriptions) subscription.unsubscribe();
    this.#subscriptions = [];
    this.#kept.clear();
  }

  /** Hands out a record that was heard of, once. */
  take(subject: string, ordinal: number): StoredRecord | undefined {
    const key = `${subject} ${ordinal}`;
    const record = this.#kept.get(key);
    if (record !== undefined) this.#kept.delete(key);
    return record;
  }

  #take(message: Parameters<typeof readLive>[0]): void {
    const live = readLive(message);
    if (live === undefined) return;
    let record: StoredRecord;
    try {
      const read = readRecord({ subject: live.subject, seq: live.sequence, data: live.data });
      // A copy: a view would keep all that arrived with it in memory.
      record = { ...read, body: new Uint8Array(read.body) };
    } catch (error) {
      this.#logger.warn(
        { err: error, subject: live.subject },
        "something on the verdict stream is no record of a guard",
      );
      return;
    }
    this.#kept.set(`${record.subject} ${record.ordinal}`, record);
    this.#onRecord(record);
  }
}
