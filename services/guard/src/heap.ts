/** A binary heap: the least item first. */
export class Heap<Item> {
  readonly #isBefore: (a: Item, b: Item) => boolean;
  readonly #items: Item[] = [];

  constructor(isBefore: (a: Item, b: Item) => boolean) {
    this.#isBefore = isBefore;
  }

  get size(): number {
    return this.#items.length;
  }

  peek(): Item | undefined {
    return this.#items[0];
  }

  push(item: Item): void {
    let at = this.#items.push(item) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#swapIfBefore(at, parent)) return;
      at = parent;
    }
  }

  pop(): Item | undefined {
    const first = this.#items[0];
    const last = this.#items.pop();
    if (this.#items.length > 0 && last !== undefined) {
      this.#items[0] = last;
      this.#sink();
    }
    return first;
  }

  /** Keeps only the items that pass. */
  retain(passes: (item: Item) => boolean): void {
    for (const item of this.#items.splice(0).filter(passes)) this.push(item);
  }

  #sink(): void {
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      const least = this.#isLess(left + 1, left) ? left + 1 : left;
      if (!this.#swapIfBefore(least, at)) return;
      at = least;
    }
  }

  #isLess(a: number, b: number): boolean {
    const [first, second] = [this.#items[a], this.#items[b]];
    return first !== undefined && second !== undefined && this.#isBefore(first, second);
  }

  #swapIfBefore(a: number, b: number): boolean {
    const [first, second] = [this.#items[a], this.#items[b]];
    if (first === undefined || second === undefined || !this.#isBefore(first, second)) return false;
    this.#items[a] = second;
    this.#items[b] = first;
    return true;
  }
}
