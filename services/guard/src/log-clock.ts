/**
 * An estimate of the log's present time, made of what the server says and of the monotonic clock. The guard's own date
 * has no part in it: it may be hours off.
 *
 * A timestamp of the server is never later than the moment it is received, so the latest estimate is the best one.
 */
export class LogClock {
  readonly #monotonic: () => number;
  /** Log time minus monotonic time in ms. */
  #offsetMs = Number.NEGATIVE_INFINITY;

  /** @param monotonic a clock in ms that never runs backwards */
  constructor(monotonic: () => number = () => performance.now()) {
    this.#monotonic = monotonic;
  }

  /** False until the server has said something. */
  get isSet(): boolean {
    return this.#offsetMs !== Number.NEGATIVE_INFINITY;
  }

  /** Estimated log time in ms since 1970; 0 while nothing is known, so that nothing is due. */
  get nowMs(): number {
    return this.isSet ? this.#monotonic() + this.#offsetMs : 0;
  }

  /** Takes in a timestamp of the server that was received just now, however old it is. */
  observe(logMs: number): void {
    const offset = logMs - this.#monotonic();
    if (offset > this.#offsetMs) this.#offsetMs = offset;
  }

  /** Believes a timestamp even if it is behind the estimate: the server's clock was set back, or ours ran ahead. */
  correct(logMs: number): void {
    this.#offsetMs = logMs - this.#monotonic();
  }
}
