import { decodePayload, type AdmittedEvent, type AdmittedOf, type EventKind } from "@candor/contract";

/**
 * Bytes of payload that may wait in one chain, whatever the policy says of their number: a thousand events of the largest
 * size would be 256 MB, and one agent may have many tasks.
 */
export const mostWaitingBytes = 4 * 1024 * 1024;

export function isOf<K extends EventKind>(entry: AdmittedEvent, kind: K): entry is AdmittedEvent & AdmittedOf<K> {
  return entry.kind === kind;
}

/** An event without what it says: that is decoded again when its turn comes. */
type Packed = Omit<AdmittedEvent, "payload">;

const nothing = new Uint8Array();

/** Copies: a view would hold the whole piece that the message arrived in, and what is decoded weighs a multiple. */
function pack(entry: AdmittedEvent): Packed {
  const { type, kind, seq, timeMs, subject, actorToken } = entry;
  const event = { ...entry.event, prev: entry.event.prev.slice(), payload: entry.event.payload.slice() };
  // Signature and frame were looked at before an event comes here.
  return {
    type,
    kind,
    seq,
    timeMs,
    subject,
    actorToken,
    event,
    hash: entry.hash.slice(),
    signature: undefined,
    data: nothing,
  };
}

function unpack(packed: Packed): AdmittedEvent {
  return { ...packed, payload: decodePayload(packed.kind, packed.event.payload) } as AdmittedEvent;
}

/** One author's events that came too early, by their number, undecoded and bounded in bytes. */
export class WaitingEvents {
  readonly #packed = new Map<number, Packed>();
  #bytes = 0;
  /** The event that was asked for last: a verdict is spoken on it again and again. */
  #asked: AdmittedEvent | undefined;

  get size(): number {
    return this.#packed.size;
  }

  hashOf(number: number): Uint8Array | undefined {
    return this.#packed.get(number)?.hash;
  }

  /** Returns whether there was room. */
  keep(entry: AdmittedEvent): boolean {
    const { payload, seq } = entry.event;
    if (this.#bytes + payload.length > mostWaitingBytes) return false;
    this.#bytes += payload.length;
    this.#packed.set(seq, pack(entry));
    return true;
  }

  /** Hands an event out, which then waits no more. */
  take(number: number): AdmittedEvent | undefined {
    const packed = this.#packed.get(number);
    if (packed === undefined) return undefined;
    this.#packed.delete(number);
    this.#bytes -= packed.event.payload.length;
    if (this.#asked?.event.seq === number) this.#asked = undefined;
    return unpack(packed);
  }

  /** All of them in the author's order, one decoded at a time. */
  *inOrder(): Generator<AdmittedEvent, void> {
    for (const packed of [...this.#packed.values()].sort((a, b) => a.event.seq - b.event.seq)) yield unpack(packed);
  }

  /** The first of a kind that came. */
  firstOf(kind: EventKind): AdmittedEvent | undefined {
    if (this.#asked?.kind === kind) return this.#asked;
    for (const packed of this.#packed.values()) if (packed.kind === kind) return (this.#asked = unpack(packed));
    return undefined;
  }
}
