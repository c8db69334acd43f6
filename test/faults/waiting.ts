import { setTimeout as pause } from "node:timers/promises";
import { CandorError } from "@candor/contract";

/** Why a waiting ends: it took too long, or somebody interrupted. */
function endOf(signal: AbortSignal, what: string): CandorError {
  const why: unknown = signal.reason;
  return new CandorError(
    "undecided",
    `Gave up waiting for ${what}: ${why instanceof Error ? why.message : String(why)}.`,
  );
}

/**
 * Asks again and again until there is a value.
 * @throws CandorError `undecided` when the signal is aborted
 */
export async function until<T>(
  signal: AbortSignal,
  what: string,
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  everyMs = 20,
): Promise<T> {
  for (;;) {
    if (signal.aborted) throw endOf(signal, what);
    const value = await ask();
    if (value !== undefined && value !== false) return value;
    await pause(everyMs);
  }
}

/** Rejects when the signal is aborted, whatever the work is waiting for. */
export async function unlessAborted<T>(signal: AbortSignal, what: string, work: Promise<T>): Promise<T> {
  let stop: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => {
      reject(endOf(signal, what));
    };
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
