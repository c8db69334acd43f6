/** A call under way. */
export interface OpenCall {
  readonly operation: string;
  /** Key task that it does. */
  readonly covers: string | undefined;
}

interface Followed {
  readonly ending: Promise<unknown>;
  readonly leave: (reason: Error) => void;
}

/** The calls of a task that are under way: its report waits for them, or says that they were left. */
export class OpenCalls {
  readonly #open = new Map<OpenCall, Followed>();

  /**
   * Counts a call from now until it ends.
   * @param run gets what gives the signal that is aborted when the call is left behind
   */
  follow<T>(call: OpenCall, run: (left: () => AbortSignal) => Promise<T>): Promise<T> {
    // Made only for who asks: most calls don't, and it costs more than the rest of this.
    let leaving: AbortController | undefined;
    let reason: Error | undefined;
    const signal = (): AbortSignal => {
      leaving ??= new AbortController();
      if (reason !== undefined) leaving.abort(reason);
      return leaving.signal;
    };
    const leave = (why: Error): void => {
      reason = why;
      leaving?.abort(why);
    };
    const ending = run(signal).finally(() => this.#open.delete(call));
    this.#open.set(call, { ending, leave });
    return ending;
  }

  /** Waits until none is under way, those included that begin meanwhile. */
  async settled(): Promise<void> {
    while (this.#open.size > 0) await Promise.allSettled([...this.#open.values()].map(({ ending }) => ending));
  }

  /** Leaves those that are still under way behind, and gives them. */
  leave(reason: Error): OpenCall[] {
    for (const { leave } of this.#open.values()) leave(reason);
    return [...this.#open.keys()];
  }
}
