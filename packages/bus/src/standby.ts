/** How long a writer goes on listening after the last sign of another one. */
const listenMs = 5_000;

export interface StandbyOptions {
  /** How long a record may stay unseen before this writer stores it itself. */
  readonly standbyMs: number;
  readonly onTakeOver: () => void;
  /** Nobody else has been heard of for a while. */
  readonly onAlone: () => void;
}

/**
 * Whether another guard stores this lane's records just now. Two guards that both store everything would each lose half
 * of the races; so who loses to somebody alive waits a moment for each record, and takes over as soon as one stays
 * unseen. The wait is drawn anew each time, lest two that stand by at once take over at once.
 */
export class Standby {
  readonly #options: StandbyOptions;
  #isOn = false;
  #delayMs = 0;
  #lastSignAt = 0;
  #takeOver: NodeJS.Timeout | undefined;
  #alone: NodeJS.Timeout | undefined;

  constructor(options: StandbyOptions) {
    this.#options = options;
  }

  get isOn(): boolean {
    return this.#isOn;
  }

  /** When a record that comes to its turn now is to be stored by this writer, in `performance.now()` terms. */
  dueAt(): number {
    return performance.now() + this.#delayMs;
  }

  /** Somebody else stored a record: maybe just now, maybe long ago. */
  noteOther(): void {
    this.#lastSignAt = performance.now();
    this.#alone ??= this.#awaitAlone(listenMs);
  }

  /** Somebody else stores records right now. */
  begin(): void {
    this.noteOther();
    if (this.#isOn) return;
    this.#isOn = true;
    this.#delayMs = this.#options.standbyMs * (1 + Math.random() / 2);
  }

  /** Sees to it that a record is looked after when it is due. */
  watch(dueAt: number): void {
    this.#takeOver ??= setTimeout(
      () => {
        // After a long synchronous step the timer runs before what arrived meanwhile is read.
        setImmediate(() => {
          this.#takeOver = undefined;
          this.#options.onTakeOver();
        });
      },
      Math.max(0, dueAt - performance.now()),
    );
  }

  /** This writer stores records itself again. */
  end(): void {
    this.#isOn = false;
    clearTimeout(this.#takeOver);
    this.#takeOver = undefined;
  }

  close(): void {
    this.end();
    clearTimeout(this.#alone);
    this.#alone = undefined;
  }

  #awaitAlone(waitMs: number): NodeJS.Timeout {
    return setTimeout(() => {
      const restMs = this.#lastSignAt + listenMs - performance.now();
      this.#alone = restMs > 0 || this.#isOn ? this.#awaitAlone(this.#isOn ? listenMs : restMs) : undefined;
      if (this.#alone === undefined) this.#options.onAlone();
    }, waitMs).unref();
  }
}
