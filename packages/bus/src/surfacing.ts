/**
 * Wraps what the client calls for each message. An exception thrown there would end the client's reading without a
 * word, so it surfaces outside, as an uncaught exception: it is a defect, or a callback's.
 */
export function surfacing<T extends unknown[]>(callback: (...args: T) => void): (...args: T) => void {
  return (...args) => {
    try {
      callback(...args);
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  };
}
