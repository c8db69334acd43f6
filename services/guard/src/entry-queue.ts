import type { LogEntry } from "@candor/contract";
import type { ChecksAhead } from "./signature-ahead.js";

/** An entry that was read and decoded and waits to be folded. */
export interface QueuedEntry {
  readonly entry: LogEntry;
  /** Leaf hash of the message. */
  readonly leaf: Uint8Array;
  /** Its signature checks on other threads. */
  readonly checks: ChecksAhead | undefined;
}

/** First in, first out, without moving what waits. */
export class EntryQueue {
  #items: (QueuedEntry | undefined)[] = [];
  #head = 0;
  #bytes = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  /** Bytes of the messages that wait. */
  get bytes(): number {
    return this.#bytes;
  }

  peek(): QueuedEntry | undefined {
    return this.#items[this.#head];
  }

  push(item: QueuedEntry): void {
    this.#items.push(item);
    this.#bytes += item.entry.data.length;
  }

  shift(): void {
    const item = this.#items[this.#head];
    if (item === undefined) return;
    this.#bytes -= item.entry.data.length;
    this.#items[this.#head] = undefined;
    this.#head += 1;
    if (this.#head === this.#items.length) {
      this.#items.length = 0;
      this.#head = 0;
    } else if (this.#head >= 4096) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
  }

  clear(): void {
    this.#items = [];
    this.#head = 0;
    this.#bytes = 0;
  }
}
