import { equalBytes, zeroHash, type AdmittedEvent, type AdmittedOf, type EventKind } from "@candor/contract";
import { bytesOfNumber, hashNumber } from "./hash-number.js";
import { isOf, WaitingEvents } from "./waiting-events.js";

/**
 * Of each hash the leading 126 bits are kept, in two numbers, at half the memory of the whole. An agent that spends about
 * 2^63 hashes, which is dear and not out of reach, can make two events that begin alike: the guard then takes the second
 * for a repetition of the first, and the next event may name either. It judges the one that the log has first, so nothing
 * that happened is hidden from it; what such an agent wins is a second story to tell others. An audit compares the links
 * of a chain by all 32 bytes, and finds it.
 */
const numbersKept = 2;

export type ChainFault = "log-fork" | "chain-broken";

export interface Offered {
  /** Events that are now in order, this one first; empty while a predecessor is missing or for a duplicate. */
  readonly ready: readonly AdmittedEvent[];
  readonly fault?: ChainFault;
  /** The event waits for a predecessor, and did not before. */
  readonly waiting: boolean;
  /** Too many events wait already; this one was not kept. */
  readonly overflow?: boolean;
}

const nothing: Offered = { ready: [], waiting: false };

/**
 * One author's events in `seq` order, whatever order the log has them in. An event of a number already seen is a
 * duplicate if it has the same hash, else a fork. What comes too early waits in a bounded buffer.
 */
export class AuthorChain {
  #next = 1;
  #hashes: number[] = [];
  #waiting: WaitingEvents | undefined;

  /** Number of events in order so far. */
  get count(): number {
    return this.#next - 1;
  }

  /** Events that wait for a predecessor. */
  get waiting(): number {
    return this.#waiting?.size ?? 0;
  }

  /** The lowest number that is missing while later ones wait; undefined if nothing waits. */
  get gap(): number | undefined {
    return this.waiting > 0 ? this.#next : undefined;
  }

  /**
   * Takes an event in. At most `capacity` events wait, and at most `mostWaitingBytes` of them: one more is not kept, and
   * the gap before it stays a finding, so that one author's silence can't hold memory.
   */
  offer(entry: AdmittedEvent, capacity: number): Offered {
    const { seq } = entry.event;
    if (seq < this.#next) return this.#isKnown(seq, entry.hash) ? nothing : { ...nothing, fault: "log-fork" };
    if (seq > this.#next) return this.#wait(entry, capacity);
    return this.#advance(entry);
  }

  /** What waits for a predecessor, in the author's order. */
  *waitingEvents(): Generator<AdmittedEvent, void> {
    if (this.#waiting !== undefined) yield* this.#waiting.inOrder();
  }

  /** The event that waits under a kind, if one does: what a settle deadline judges by when a gap stays open. */
  waitingOf<K extends EventKind>(kind: K): AdmittedOf<K> | undefined {
    const entry = this.#waiting?.firstOf(kind);
    return entry !== undefined && isOf(entry, kind) ? entry : undefined;
  }

  #wait(entry: AdmittedEvent, capacity: number): Offered {
    const waiting = (this.#waiting ??= new WaitingEvents());
    const other = waiting.hashOf(entry.event.seq);
    if (other !== undefined) return equalBytes(other, entry.hash) ? nothing : { ...nothing, fault: "log-fork" };
    const kept = waiting.size < capacity && waiting.keep(entry);
    return kept ? { ready: [], waiting: true } : { ready: [], waiting: false, overflow: true };
  }

  #advance(entry: AdmittedEvent): Offered {
    const broken = !this.#follows(entry);
    this.#take(entry);
    const fault = broken ? ({ fault: "chain-broken" } as const) : {};
    if (this.#waiting === undefined) return { ready: [entry], waiting: false, ...fault };
    const ready = [entry];
    let laterFault: { fault?: ChainFault } = fault;
    for (let next = this.#waiting.take(this.#next); next !== undefined; next = this.#waiting.take(this.#next)) {
      if (!this.#follows(next)) laterFault = { fault: "chain-broken" };
      this.#take(next);
      ready.push(next);
    }
    if (this.#waiting.size === 0) this.#waiting = undefined;
    return { ready, waiting: false, ...laterFault };
  }

  #take({ hash }: AdmittedEvent): void {
    const at = (this.#next - 1) * numbersKept;
    if (at === this.#hashes.length) this.#grow();
    this.#hashes[at] = hashNumber(hash, 0);
    this.#hashes[at + 1] = hashNumber(hash, bytesOfNumber);
    this.#next += 1;
  }

  /** In small steps: a list that grows by itself would take room for as much again. */
  #grow(): void {
    const events = Math.max(8, this.#next + 3, Math.ceil(this.#next * 1.125));
    const larger = new Array<number>(events * numbersKept).fill(0);
    for (let i = 0; i < this.#hashes.length; i += 1) larger[i] = this.#hashes[i] as number;
    this.#hashes = larger;
  }

  /** Does it name the event before it? */
  #follows({ event }: AdmittedEvent): boolean {
    return event.seq === 1 ? equalBytes(event.prev, zeroHash) : this.#isKnown(event.seq - 1, event.prev);
  }

  /** Whether the event of that number is in order, and begins with this hash as far as hashes are kept. */
  knows(seq: number, hash: Uint8Array): boolean {
    return seq < this.#next && this.#isKnown(seq, hash);
  }

  #isKnown(seq: number, hash: Uint8Array): boolean {
    const at = (seq - 1) * numbersKept;
    return (
      Object.is(this.#hashes[at], hashNumber(hash, 0)) &&
      Object.is(this.#hashes[at + 1], hashNumber(hash, bytesOfNumber))
    );
  }
}
