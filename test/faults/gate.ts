import type { Random } from "./random.js";

/**
 * Keeps load and faults in step, whatever the speed of the machine: each fault has a place among the inputs, and no
 * input passes the place of a fault before that one says so, nor the place of the next before this one is done.
 */
export class Gate {
  readonly #places: readonly number[];
  #passed = 0;
  #limit: number;
  #fault = -1;
  #waiting: { readonly number: number; readonly resolve: () => void }[] = [];
  #reached: (() => void) | undefined;

  /**
   * @param inputs how many there are
   * @param faults how many places to draw among them
   */
  constructor(inputs: number, faults: number, random: Random) {
    const span = inputs / (faults + 1);
    this.#places = Array.from({ length: faults }, (_, i) => Math.max(2, Math.floor(span * (i + 0.5 + random() / 2))));
    this.#limit = this.#places[0] ?? Number.POSITIVE_INFINITY;
  }

  /** Waits for the turn of an input; they are numbered from 1. */
  async pass(number: number): Promise<void> {
    if (number > this.#limit) {
      await new Promise<void>((resolve) => {
        this.#waiting.push({ number, resolve });
      });
    }
    this.#passed = Math.max(this.#passed, number);
    if (this.#passed >= this.#limit) this.#reached?.();
  }

  /** Waits until the inputs have come to the place of the next fault, where they stay until `open`. */
  async nextFault(): Promise<void> {
    this.#fault += 1;
    this.#letUpTo(this.#places[this.#fault] ?? Number.POSITIVE_INFINITY);
    if (this.#passed >= this.#limit) return;
    await new Promise<void>((resolve) => {
      this.#reached = resolve;
    });
  }

  /** Lets inputs pass up to the place of the fault after this one. */
  open(): void {
    this.#letUpTo(this.#places[this.#fault + 1] ?? Number.POSITIVE_INFINITY);
  }

  #letUpTo(limit: number): void {
    this.#limit = Math.max(this.#limit, limit);
    const ready = this.#waiting.filter(({ number }) => number <= limit);
    this.#waiting = this.#waiting.filter(({ number }) => number > limit);
    for (const { resolve } of ready) resolve();
  }
}
