import type { CandorError } from "@candor/contract";

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: CandorError) => void;
}

/** What was stored when reading began, or last began anew, and is not handled yet. */
export class Backlog {
  #left = 0;
  #isKnown = false;
  #end: CandorError | undefined;
  #waiters: Waiter[] = [];

  /** Reading begins with so many messages to go. */
  begin(count: number): void {
    this.#left = count;
    this.#isKnown = true;
    this.#wake();
  }

  handled(count: number): void {
    this.#left -= count;
    this.#wake();
  }

  /** How many there are is not known until reading begins anew. */
  interrupt(): void {
    this.#isKnown = false;
  }

  /** Nothing more is handled. */
  end(error: CandorError): void {
    this.#end = error;
    for (const { reject } of this.#waiters.splice(0)) reject(error);
  }

  /** Resolves once nothing is left. @throws CandorError the one it ended with */
  done(): Promise<void> {
    if (this.#isDone) return Promise.resolve();
    return new Promise((resolve, reject) => {
      if (this.#end === undefined) this.#waiters.push({ resolve, reject });
      else reject(this.#end);
    });
  }

  get #isDone(): boolean {
    return this.#isKnown && this.#left <= 0;
  }

  #wake(): void {
    if (this.#waiters.length === 0 || !this.#isDone) return;
    for (const { resolve } of this.#waiters.splice(0)) resolve();
  }
}
