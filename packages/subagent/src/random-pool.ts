import { randomBytes } from "node:crypto";

const count = 128;

/** Short random byte strings, drawn many at a time: one by one, what the system charges for each outweighs all else. */
export class RandomPool {
  readonly #length: number;
  #drawn = new Uint8Array();
  #at = 0;

  /** @param length of each, in bytes */
  constructor(length: number) {
    this.#length = length;
  }

  /** The next one, never given before. */
  next(): Uint8Array {
    if (this.#at === this.#drawn.length) {
      this.#drawn = new Uint8Array(randomBytes(count * this.#length));
      this.#at = 0;
    }
    const start = this.#at;
    this.#at += this.#length;
    return this.#drawn.slice(start, this.#at);
  }
}
