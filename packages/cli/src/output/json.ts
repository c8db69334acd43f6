/** A value as JSON can hold it: bytes in hexadecimal, big integers as text, errors by their message. */
export function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  if (typeof value === "bigint") return value.toString();
  if (value instanceof Error) return value.message;
  if (value instanceof Map) return plain(Object.fromEntries(value));
  if (value instanceof Set || Array.isArray(value)) return [...(value as Iterable<unknown>)].map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, plain(entry)]));
}

/** One JSON document, indented for people who look at it. */
export function jsonText(value: unknown): string {
  return JSON.stringify(plain(value), undefined, 2);
}

/** One JSON document on one line, for streams of them. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(plain(value));
}
