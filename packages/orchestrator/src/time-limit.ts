import { setTimeout as pause } from "node:timers/promises";

/** Pause between two looks. */
const againMs = 100;

/** The longest that a timer of Node's waits, in ms: one that is set for longer fires at once. */
export const longestTimerMs = 2 ** 31 - 1;

/** Does some work with a signal that says when its time is up. */
export async function within<T>(timeoutMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const end = new AbortController();
  const timer = setTimeout(
    () => {
      end.abort();
    },
    Math.min(timeoutMs, longestTimerMs),
  );
  try {
    return await work(end.signal);
  } finally {
    clearTimeout(timer);
  }
}

/** Resolves when the signal says so. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else {
      signal.addEventListener("abort", () => {
        resolve();
      });
    }
  });
}

/**
 * What is found again and again for `patienceMs`; undefined as soon as one look finds nothing. After a change of leader a
 * replica may be behind for a moment, and what it does not have yet is not gone.
 */
export async function lasting<T>(look: () => Promise<T | undefined>, patienceMs: number): Promise<T | undefined> {
  const end = performance.now() + patienceMs;
  for (;;) {
    const found = await look();
    if (found === undefined || performance.now() > end) return found;
    await pause(againMs);
  }
}
