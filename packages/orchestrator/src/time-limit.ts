/** Does some work with a signal that says when its time is up. */
export async function within<T>(timeoutMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const end = new AbortController();
  const timer = setTimeout(() => {
    end.abort();
  }, timeoutMs);
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
