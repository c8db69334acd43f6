import type { StreamDocument } from "./stream-documents.js";

/** One difference between a stream as it is and as it should be. */
export interface StreamChange {
  readonly stream: string;
  /** Path in the stream's configuration, `*` for a stream that is not there. */
  readonly field: string;
  readonly from: unknown;
  readonly to: unknown;
  /** `immutable`: can't be changed once the stream is there. */
  readonly change: "create" | "update" | "immutable";
}

/** Changing one of these would give stored events another meaning, or the server refuses it. */
const immutable: ReadonlySet<string> = new Set([
  "subjects",
  "subject_transform.src",
  "subject_transform.dest",
  "retention",
  "storage",
  "metadata.candor-version",
  "metadata.candor-lanes",
  "metadata.candor-operator",
]);

function flatten(value: unknown, path = ""): [string, unknown][] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [[path, value]];
  return Object.entries(value).flatMap(([name, item]) => flatten(item, path === "" ? name : `${path}.${name}`));
}

/** The server leaves out what is false, zero, empty, or without limit. */
function isDefault(value: unknown): boolean {
  return value === undefined || value === null || value === false || value === 0 || value === -1 || value === "";
}

function same(a: unknown, b: unknown): boolean {
  return (isDefault(a) && isDefault(b)) || JSON.stringify(a) === JSON.stringify(b);
}

/**
 * What it takes to make `existing` like `wanted`. Only fields that `wanted` names are compared, so what the server
 * adds of its own is no difference.
 *
 * @param existing configurations as the server states them
 */
export function planStreams(
  existing: readonly StreamDocument[],
  wanted: readonly StreamDocument[],
): readonly StreamChange[] {
  const byName = new Map(existing.map((stream) => [stream.name, stream]));
  return wanted.flatMap((stream): StreamChange[] => {
    const there = byName.get(stream.name);
    if (there === undefined) {
      return [{ stream: stream.name, field: "*", from: undefined, to: stream, change: "create" }];
    }
    const fields = new Map(flatten(there));
    return flatten(stream)
      .filter(([field, to]) => !same(fields.get(field), to))
      .map(([field, to]) => {
        const change = immutable.has(field) ? "immutable" : "update";
        return { stream: stream.name, field, from: fields.get(field), to, change };
      });
  });
}
