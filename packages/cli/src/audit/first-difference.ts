import { decodeValue } from "@candor/contract";

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !(value instanceof Uint8Array);
}

function search(a: unknown, b: unknown, path: string): string | undefined {
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.from(a).equals(b) ? undefined : path;
  if (!isFields(a) || !isFields(b) || Array.isArray(a) !== Array.isArray(b)) return Object.is(a, b) ? undefined : path;
  for (const name of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const inner = Array.isArray(a) ? `${path}[${name}]` : path === "" ? name : `${path}.${name}`;
    const found = search(a[name], b[name], inner);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * The first field in which two canonical msgpack values differ, like `findings[0].code`.
 *
 * @returns undefined if they hold the same; `encoding` if only their bytes differ, or one of them is no msgpack
 */
export function firstDifference(a: Uint8Array, b: Uint8Array): string | undefined {
  if (Buffer.from(a.buffer, a.byteOffset, a.length).equals(b)) return undefined;
  try {
    return search(decodeValue(a), decodeValue(b), "") ?? "encoding";
  } catch {
    return "encoding";
  }
}
