import { publishedSubject, storedSubject, Tally, zeroHash, type AgentKind, type EventKind } from "@candor/contract";
import type { Signer } from "@candor/ledger";
import { draftEvent, type Build, type Draft, type Moment } from "./event-draft.js";

/** Whose chain it is. */
export interface ChainPlace {
  readonly lane: number;
  readonly run: string;
  readonly task: string;
  readonly epoch: number;
  readonly actor: string;
}

export interface ChainOptions {
  readonly place: ChainPlace;
  /** Signs for the ephemeral task key. */
  readonly signer: Signer;
  /** Called for each event at the moment it gets its place in the chain. */
  readonly onEvent: (seq: number, kind: AgentKind, payload: unknown, hash: Uint8Array) => void;
  readonly now?: () => number;
}

interface Subjects {
  readonly published: string;
  readonly stored: string;
}

/** One author's chain as it stands: number and hash of its last event, and what it comes to. */
export class Chain {
  readonly #options: ChainOptions;
  readonly #tally = new Tally();
  #last = 0;
  #head: Uint8Array = zeroHash;
  readonly #subjectsOf = new Map<EventKind, Subjects>();

  constructor(options: ChainOptions) {
    this.#options = options;
  }

  get moment(): Moment {
    return { last: this.#last, head: this.#head, tally: this.#tally };
  }

  /** The next event, which has no place in the chain yet. @throws CandorError as `draftEvent` */
  draft<K extends AgentKind>(kind: K, build: Build<K>): Draft {
    const { place, signer, now = Date.now } = this.#options;
    const { run, task, epoch, actor } = place;
    const { moment } = this;
    const payload = typeof build === "function" ? build(moment) : build;
    return draftEvent(
      { run, task, epoch, actor, seq: moment.last + 1, prev: moment.head, at: now() },
      kind,
      payload,
      signer,
    );
  }

  /** Gives an event its place. */
  commit({ seq, kind, payload, hash }: Draft): void {
    this.#last = seq;
    this.#head = hash;
    // Receipts cover what comes before them, so they and the report count in no tally.
    if (kind !== "receipt" && kind !== "report") this.#tally.add(seq, kind, payload);
    this.#options.onEvent(seq, kind, payload, hash);
  }

  /** Subject that its events of a kind are published on. */
  published(kind: EventKind): string {
    return this.#subjects(kind).published;
  }

  /** Subject that they are stored under. */
  stored(kind: EventKind): string {
    return this.#subjects(kind).stored;
  }

  /** Made and checked once a kind. */
  #subjects(kind: EventKind): Subjects {
    const known = this.#subjectsOf.get(kind);
    if (known !== undefined) return known;
    const address = { ...this.#options.place, role: "agent", kind } as const;
    const made = { published: publishedSubject(address), stored: storedSubject(address) };
    this.#subjectsOf.set(kind, made);
    return made;
  }
}
