/** Chunks under way at a time: 1 MiB, which is enough to keep a server on the same network busy. */
const width = 8;

/**
 * Results of `work(1)`, `work(2)`, … `work(count)` in order, a few of them under way at a time. After a failure nothing
 * more is begun, and it is thrown once what was under way has ended.
 */
export async function* inWindow<T>(count: number, work: (n: number) => Promise<T>): AsyncGenerator<T, void, undefined> {
  const underWay: Promise<T>[] = [];
  let next = 1;
  try {
    for (let n = 1; n <= count; n += 1) {
      for (; next <= count && underWay.length < width; next += 1) {
        const begun = work(next);
        underWay.push(begun);
        // It may fail before its turn: then it is thrown in its turn.
        void begun.catch(() => undefined);
      }
      const [first] = underWay;
      if (first === undefined) return;
      const result = await first;
      void underWay.shift();
      yield result;
    }
  } finally {
    await Promise.allSettled(underWay);
  }
}
