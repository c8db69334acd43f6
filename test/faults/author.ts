import {
  encodeBody,
  encodeFrame,
  encodePayload,
  eventHash,
  kindTable,
  publishedSubject,
  subjectKind,
  zeroHash,
  type EventKind,
  type Payload,
} from "@candor/contract";
import type { Signer } from "@candor/ledger";

/** Something to publish. */
export interface Message {
  readonly subject: string;
  readonly data: Uint8Array;
}

export interface AuthorPlace {
  readonly run: string;
  readonly task: string;
  readonly actor: string;
}

/** Header fields that an event may have wrong. */
export interface Bend {
  readonly epoch?: number;
  readonly seq?: number;
  readonly prev?: Uint8Array;
}

/** One author's chain of events on one task, or the control intents of one task. */
export class Author {
  seq = 0;
  head: Uint8Array = zeroHash;
  readonly #place: AuthorPlace;
  readonly #signer: Signer;

  constructor(place: AuthorPlace, signer: Signer) {
    this.#place = place;
    this.#signer = signer;
  }

  /** The next event; signed where its kind must be. */
  next<K extends EventKind>(kind: K, payload: Payload<K>, epoch = 1): Message {
    const { message, hash } = this.#make(kind, payload, { epoch, seq: this.seq + 1, prev: this.head });
    this.seq += 1;
    this.head = hash;
    return message;
  }

  /** An event that is not the next one: the chain stays as it is. */
  bent<K extends EventKind>(kind: K, payload: Payload<K>, bend: Bend): Message {
    return this.#make(kind, payload, { epoch: 1, seq: this.seq + 1, prev: this.head, ...bend }).message;
  }

  #make<K extends EventKind>(
    kind: K,
    payload: Payload<K>,
    at: Required<Bend>,
  ): { readonly message: Message; readonly hash: Uint8Array } {
    const { role } = kindTable[kind];
    const body = encodeBody({
      kind,
      role,
      ...this.#place,
      ...at,
      at: Date.now(),
      payload: encodePayload(kind, payload),
    });
    const hash = eventHash(body);
    const subject = publishedSubject({ role, ...this.#place, kind: subjectKind(role, kind) });
    const signature = kindTable[kind].signed ? this.#signer.sign(hash) : undefined;
    return { message: { subject, data: encodeFrame(body, signature) }, hash };
  }
}
