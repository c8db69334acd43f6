/**
 * Tells when everything begun up to a moment is done, while more is begun all the time: what is under way is counted by
 * generation, and whoever waits closes one.
 */
export class Settlement {
  /** How many of each generation are under way; what is done is left out. */
  readonly #open = new Map<number, number>();
  #generation = 0;
  #waiters: { readonly upTo: number; readonly resolve: (settled: boolean) => void }[] = [];

  /** Counts one more; returns what to call when it is done. */
  begin(): () => void {
    const generation = this.#generation;
    this.#open.set(generation, (this.#open.get(generation) ?? 0) + 1);
    return () => {
      this.#finish(generation);
    };
  }

  /** Resolves with true once everything begun so far is done; with false if it is given up before. */
  settled(): Promise<boolean> {
    if (this.#open.size === 0) return Promise.resolve(true);
    const upTo = this.#generation;
    this.#generation += 1;
    return new Promise((resolve) => {
      this.#waiters.push({ upTo, resolve });
    });
  }

  /** Nothing that is under way will be done. */
  giveUp(): void {
    this.#open.clear();
    for (const { resolve } of this.#waiters.splice(0)) resolve(false);
  }

  #finish(generation: number): void {
    const open = this.#open.get(generation);
    if (open === undefined) return;
    if (open > 1) {
      this.#open.set(generation, open - 1);
      return;
    }
    this.#open.delete(generation);
    const oldest = Math.min(...this.#open.keys());
    const done = this.#waiters.filter(({ upTo }) => upTo < oldest);
    this.#waiters = this.#waiters.filter(({ upTo }) => upTo >= oldest);
    for (const { resolve } of done) resolve(true);
  }
}
