import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { CandorError, isCandorError } from "@candor/contract";
import { shown } from "./comparison.js";
import { Reader } from "./reader.js";
import type { LineResult, Suite } from "./suite.js";
import { suites } from "./suites.js";

/** At most this many differences are kept of one file; all of them count. */
export const keptDifferences = 10;

export interface Difference {
  /** Line number in the file, from 1. */
  readonly line: number;
  /** The `id` of the case; null when the line could not be read. */
  readonly id: string | null;
  readonly what: readonly string[];
}

export interface CheckedFile {
  readonly name: string;
  readonly status: "checked";
  readonly agreed: number;
  readonly total: number;
  /** Only where the file has cases that the contract leaves open. */
  readonly open?: OpenCases;
  /** The first differences, at most `keptDifferences`. */
  readonly differences: readonly Difference[];
}

/** Cases with several outcomes that can be argued for. */
export interface OpenCases {
  readonly total: number;
  /** Answered by one of their options. */
  readonly answered: number;
  /** Answered by the option that is recommended. */
  readonly recommended: number;
}

export interface SkippedFile {
  readonly name: string;
  readonly status: "skipped";
  readonly reason: string;
}

export interface FolderResult {
  /** False on any difference, on a file without cases and when there was nothing to check. */
  readonly ok: boolean;
  readonly files: readonly (CheckedFile | SkippedFile)[];
}

/**
 * Checks every vector file of a folder against the code under test.
 *
 * @param folder any folder with files in the form of `vectors/README.md`, all or some of them
 * @throws CandorError `bad-argument` when the folder cannot be listed, `bad-file` when one of its files cannot be read
 */
export function checkFolder(folder: string): FolderResult {
  const files = namesIn(folder).map((name) => {
    const suite = suites.get(name);
    return suite === undefined ? skipped(name) : checkFile(name, join(folder, `${name}.jsonl`), suite);
  });
  const checked = files.filter((file) => file.status === "checked");
  const ok = checked.length > 0 && checked.every((file) => file.total > 0 && file.agreed === file.total);
  return { ok, files };
}

function namesIn(folder: string): readonly string[] {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
    return names.map((name) => name.slice(0, -".jsonl".length)).sort();
  } catch (cause) {
    const message = `cannot list the vector folder ${folder} (${reasonOf(cause)}); pass --vectors with a folder of .jsonl files`;
    throw new CandorError("bad-argument", message, { cause });
  }
}

function skipped(name: string): SkippedFile {
  return { name, status: "skipped", reason: "no part of Candor is measured by a file of this name" };
}

function checkFile(name: string, path: string, suite: Suite): CheckedFile {
  const results = linesOf(path).map(({ line, bytes }) => ({ line, ...checkLine(bytes, suite) }));
  const differences = results.filter((result) => result.what.length > 0);
  return {
    name,
    status: "checked",
    agreed: results.length - differences.length,
    total: results.length,
    ...openOf(results),
    differences: differences.slice(0, keptDifferences).map(({ line, id, what }) => ({ line, id, what })),
  };
}

function openOf(results: readonly LineResult[]): { readonly open?: OpenCases } {
  const cases = results.filter(({ isRecommended }) => isRecommended !== undefined);
  if (cases.length === 0) return {};
  const answered = cases.filter(({ what }) => what.length === 0);
  const recommended = answered.filter(({ isRecommended }) => isRecommended === true);
  return { open: { total: cases.length, answered: answered.length, recommended: recommended.length } };
}

function checkLine(bytes: Uint8Array, suite: Suite): Omit<Difference, "line"> & LineResult {
  try {
    const line = new Reader(JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)));
    const id = line.text("id");
    const { what, ...rest } = suite(line)();
    const isOfDigest = what.some((text) => text.startsWith("manifest_digest"));
    return { id, what: isOfDigest ? [...what, hashed(line)] : what, ...rest };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError || isCandorError(error)) {
      return { id: null, what: [`malformed line: ${error.message}`] };
    }
    throw error;
  }
}

function hashed(line: Reader): string {
  return `the reference hashed ${shown(line.fields["digest_preimage"])}`;
}

/** The lines that are not blank, each with its number from 1; as bytes, so that invalid UTF-8 is found. */
function linesOf(path: string): readonly { readonly line: number; readonly bytes: Uint8Array }[] {
  const whole = bytesOf(path);
  const lines: { line: number; bytes: Uint8Array }[] = [];
  for (let start = 0, line = 1; start < whole.length; line += 1) {
    const newline = whole.indexOf(0x0a, start);
    const end = newline < 0 ? whole.length : newline;
    const bytes = whole.subarray(start, end);
    if (bytes.some((byte) => byte > 0x20)) lines.push({ line, bytes });
    start = end + 1;
  }
  return lines;
}

function bytesOf(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw new CandorError("bad-file", `cannot read ${path} (${reasonOf(cause)}); make it a readable file`, { cause });
  }
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error && "code" in cause ? String(cause.code) : String(cause);
}
