/** A wish to stop: Ctrl-C, or what a service manager or a closed terminal sends. */
const wishes = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Numbers of the signals, as shells report them. */
const exitOf = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

export interface Interruption {
  /** Aborted at the first wish to stop; the reason is the signal's name. */
  readonly signal: AbortSignal;
  /** Gives the signals back to the process. */
  readonly release: () => void;
}

/**
 * Turns signals into an abort signal, so that a command can end in order. The second one ends the process at once.
 */
export function watchInterruption(): Interruption {
  const controller = new AbortController();
  const listeners = wishes.map((wish) => {
    const listener = (): void => {
      if (controller.signal.aborted) process.exit(exitOf[wish]);
      controller.abort(wish);
    };
    process.on(wish, listener);
    return [wish, listener] as const;
  });
  return {
    signal: controller.signal,
    release: () => {
      for (const [wish, listener] of listeners) process.off(wish, listener);
    },
  };
}

/** Resolves when the signal is aborted. */
export function untilAborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else
      signal.addEventListener("abort", () => {
        resolve(undefined);
      });
  });
}
