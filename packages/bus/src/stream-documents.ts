import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { CandorError, streams } from "@candor/contract";

/** A JetStream stream configuration, in the words of the server's API. */
export interface StreamDocument {
  readonly name: string;
  readonly [field: string]: unknown;
}

/** What the declarative files leave open. */
export interface StreamSettings {
  /** Number of lanes, 1 to 1,024; fixed for ever when the streams are made. */
  readonly lanes: number;
  /** Copies of each stream: 1, 3 or 5. */
  readonly replicas: number;
  /** Public signing key of the operator. */
  readonly operator: string;
}

const fileNames = {
  [streams.log]: "candor-log.json",
  [streams.verdicts]: "candor-verdicts.json",
  [streams.keys]: "candor-keys.json",
  [streams.evidence]: "candor-evidence.json",
  [streams.dataKeys]: "candor-data-keys.json",
} as const satisfies Record<(typeof streams)[keyof typeof streams], string>;

/** In a checkout the files at its root; in a published package the copy that packing made. */
const folders = ["../../../streams/", "../streams/"].map((path) => new URL(path, import.meta.url));

function read(fileName: string): string {
  const file = folders.map((folder) => fileURLToPath(new URL(fileName, folder))).find((path) => existsSync(path));
  if (file === undefined)
    throw new CandorError("bad-file", `The stream file ${fileName} is missing: reinstall Candor.`);
  return readFileSync(file, "utf8");
}

function fill(value: unknown, settings: StreamSettings): unknown {
  if (typeof value === "string") {
    return value === "${replicas}"
      ? settings.replicas
      : value.replaceAll("${lanes}", String(settings.lanes)).replaceAll("${operator}", settings.operator);
  }
  if (Array.isArray(value)) return value.map((item) => fill(item, settings));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, fill(item, settings)]));
}

/**
 * The streams as they should be, from the files in `streams/`.
 *
 * @throws CandorError `bad-argument` for a number of lanes or replicas out of range
 */
export function streamDocuments(settings: StreamSettings): StreamDocument[] {
  const { lanes, replicas } = settings;
  if (!Number.isInteger(lanes) || lanes < 1 || lanes > 1024) {
    throw new CandorError("bad-argument", `${lanes} lanes are not possible: use 1 to 1024.`, { path: "lanes" });
  }
  if (![1, 3, 5].includes(replicas)) {
    throw new CandorError("bad-argument", `${replicas} replicas are not possible: use 1, 3 or 5.`, {
      path: "replicas",
    });
  }
  return Object.values(fileNames).map((fileName) => fill(JSON.parse(read(fileName)), settings) as StreamDocument);
}

/** Value of one of our own entries in a stream's metadata. */
export function metadataOf(stream: StreamDocument, entry: "candor-lanes" | "candor-operator"): string | undefined {
  const { metadata } = stream;
  if (typeof metadata !== "object" || metadata === null) return undefined;
  const value = (metadata as Readonly<Record<string, unknown>>)[entry];
  return typeof value === "string" ? value : undefined;
}

/** Number of lanes that a stream was made with. */
export function lanesOf(stream: StreamDocument): number | undefined {
  const lanes = Number(metadataOf(stream, "candor-lanes"));
  return Number.isInteger(lanes) && lanes > 0 ? lanes : undefined;
}
