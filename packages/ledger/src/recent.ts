/** A map that keeps the most recently used entries. */
export interface Recent<Value> {
  /** The value of `key`, made by `make` if it is not held. */
  get(key: string, make: () => Value): Value;
}

/**
 * Makes a bounded cache; what was used longest ago leaves first.
 *
 * @param limit how many entries it holds at most
 */
export function createRecent<Value>(limit: number): Recent<Value> {
  const held = new Map<string, { readonly value: Value }>();
  return {
    get(key, make) {
      const entry = held.get(key) ?? { value: make() };
      // A map keeps the order of insertion, so what is inserted anew moves to the end.
      held.delete(key);
      held.set(key, entry);
      if (held.size > limit) {
        const [oldest] = held.keys();
        if (oldest !== undefined) held.delete(oldest);
      }
      return entry.value;
    },
  };
}
