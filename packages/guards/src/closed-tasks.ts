import { sha256, utf8 } from "@candor/contract";
import { bytesOfNumber, hashNumber, lowBits } from "./hash-number.js";

/** What is known of late events to a closed task, once it was read again. */
export interface LateFacts {
  /** Events of each actor since it was closed. */
  readonly late: ReadonlyMap<string, number>;
  /** As `mayHoldGhost`. */
  readonly mayHoldGhost: boolean;
}

/** Two numbers of a task's id, and the place of its actors, from 1; 0 where the slot is empty. */
const width = 3;
const fewest = 4;
/** Share of the slots that are filled before there are more of them. */
const mostFilled = 0.85;

interface TaskId {
  readonly task: string;
  readonly first: number;
  readonly second: number;
}

/** The last id that was asked for: whoever asks for one does so several times. */
let lastId: TaskId | undefined;

function idOf(task: string): TaskId {
  if (lastId?.task === task) return lastId;
  const digest = sha256(utf8(task));
  return (lastId = { task, first: hashNumber(digest, 0), second: hashNumber(digest, bytesOfNumber) });
}

/**
 * The closed tasks of a run and who took part in them, so that a late event is known as late, and an outsider's as such,
 * without reading anything again. They stay for as long as their run is open, so each is but a digest of its id in a table
 * of numbers: some 35 bytes, however long the id.
 */
export class ClosedTasks {
  #slots: number[] = [];
  #size = 0;
  readonly #actors: string[] = [];
  /** Place of each text in the list. Made when there is more than one: in most runs the same agents take part in all. */
  #places: Map<string, number> | undefined;
  #late: Map<string, LateFacts> | undefined;

  get size(): number {
    return this.#size;
  }

  has(task: string): boolean {
    return this.actorsOf(task) !== undefined;
  }

  /** Actors that a closed task's delegations name, as `actorText`; undefined for a task that is not closed. */
  actorsOf(task: string): string | undefined {
    if (this.#size === 0) return undefined;
    const { first, second } = idOf(task);
    return this.#actors[(this.#slots[this.#find(first, second) + 2] ?? 0) - 1];
  }

  lateFacts(task: string): LateFacts | undefined {
    return this.#late?.get(task);
  }

  /** @param actors as `actorText` */
  add(task: string, actors: string): void {
    if ((this.#size + 1) * width > this.#slots.length * mostFilled) this.#grow();
    const { first, second } = idOf(task);
    if (this.#put(first, second, this.#placeOf(actors))) this.#size += 1;
  }

  /** Keeps what was found of a closed task when it was read again. */
  learn(task: string, facts: LateFacts): void {
    (this.#late ??= new Map<string, LateFacts>()).set(task, facts);
  }

  #placeOf(actors: string): number {
    if (this.#actors[0] === actors) return 1;
    const places = (this.#places ??= new Map(this.#actors.map((known, i) => [known, i + 1])));
    const known = places.get(actors);
    if (known !== undefined) return known;
    const place = this.#actors.push(actors);
    places.set(actors, place);
    return place;
  }

  /** Returns whether it was not there before. */
  #put(first: number, second: number, place: number): boolean {
    const at = this.#find(first, second);
    const isNew = this.#slots[at + 2] === 0;
    this.#slots[at] = first;
    this.#slots[at + 1] = second;
    this.#slots[at + 2] = place;
    return isNew;
  }

  /** Where an id stands, or the empty slot where it would. */
  #find(first: number, second: number): number {
    const slots = this.#slots;
    let at = (lowBits(first) % (slots.length / width)) * width;
    while (slots[at + 2] !== 0 && !(Object.is(slots[at], first) && Object.is(slots[at + 1], second))) {
      at += width;
      if (at === slots.length) at = 0;
    }
    return at;
  }

  #grow(): void {
    const before = this.#slots;
    const slots = Math.max(fewest, Math.ceil((before.length / width) * 1.5));
    this.#slots = new Array<number>(slots * width).fill(0);
    for (let at = 0; at < before.length; at += width) {
      const place = before[at + 2] as number;
      if (place !== 0) this.#put(before[at] as number, before[at + 1] as number, place);
    }
  }
}
