import type { Context } from "./context.js";
import { exitOfSignal, type Wish } from "./exit.js";

/** A wish to stop: Ctrl-C, or what a service manager or a closed terminal sends. */
const wishes = Object.keys(exitOfSignal) as Wish[];

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
      if (controller.signal.aborted) process.exit(exitOfSignal[wish]);
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

/**
 * Ends a command that somebody asked to stop before it was through: one line, and the signal's exit code. It is no error.
 *
 * @param wish the signal, or the reason of a signal that `watchInterruption` aborted
 * @param text what that means for what was under way
 */
export function endInterrupted(context: Context, wish: unknown, text: string): void {
  context.exit = exitOfSignal[wishes.find((known) => known === wish) ?? "SIGINT"];
  context.terminal.note(`Interrupted. ${text}`);
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
