export type Fields = Readonly<Record<string, unknown>>;

/** A value as something with properties; undefined if it has none. */
export function fieldsOf(value: unknown): Fields | undefined {
  return (typeof value === "object" && value !== null) || typeof value === "function" ? (value as Fields) : undefined;
}

/** Reads a property of somebody else's object; one that throws is as good as none. */
export function read(fields: Fields, name: string): unknown {
  try {
    return fields[name];
  } catch {
    return undefined;
  }
}
