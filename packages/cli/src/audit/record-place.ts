import { decodeValue } from "@candor/contract";
import type { Published } from "./published.js";

/** Where a published record says that it belongs. */
export interface RecordPlace {
  /** 1, 2, … on its subject; undefined if it does not say. */
  readonly ordinal: number | undefined;
  /** Log sequence of what it was said about; 0 if it does not say. */
  readonly cause: number;
  /** Run and task that it is about, if it says so. */
  readonly run: string | undefined;
  readonly task: string | undefined;
}

const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

function read(body: Uint8Array): unknown {
  try {
    return decodeValue(body);
  } catch {
    return undefined;
  }
}

/** Reads a record's place without holding it to its schema: another version may have written it. */
export function placeOf({ kind, body }: Pick<Published, "kind" | "body">): RecordPlace {
  const value = read(body);
  if (kind === "verdict") {
    const [ordinal, cause] = [fieldOf(value, "ordinal"), fieldOf(fieldOf(value, "cause"), "last")];
    return {
      ordinal: typeof ordinal === "number" ? ordinal : undefined,
      cause: typeof cause === "number" ? cause : 0,
      run: text(fieldOf(value, "run")),
      task: text(fieldOf(value, "task")),
    };
  }
  const [, , , run, task] = (text(fieldOf(value, "subject")) ?? "").split(".");
  const cause = fieldOf(value, "seq");
  return { ordinal: 1, cause: typeof cause === "number" ? cause : 0, run, task };
}
