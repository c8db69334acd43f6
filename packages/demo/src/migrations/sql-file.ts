import { open } from "node:fs/promises";
import { parseError, type FileFailure, type ParseError } from "./failure.js";
import { printable } from "./printable.js";

/** Largest migration that is reviewed unless told otherwise, in bytes. Parsing blocks for about a second per MiB. */
export const defaultMaxBytes = 2 * 1024 * 1024;

export type SqlFile = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly error: ParseError };

/**
 * Reads a migration as strict UTF-8, a byte order mark taken off. Whatever is wrong with the file is
 * a result, not a throw; only an aborted `signal` throws its reason.
 */
export async function readSqlFile(path: string, maxBytes = defaultMaxBytes, signal?: AbortSignal): Promise<SqlFile> {
  signal?.throwIfAborted();
  let bytes: Buffer;
  try {
    bytes = await readAtMost(path, maxBytes + 1, signal);
  } catch (error) {
    signal?.throwIfAborted();
    return { ok: false, error: unreadable(error) };
  }
  if (bytes.length > maxBytes) {
    const message = `larger than ${maxBytes} bytes; split the migration or raise the limit`;
    return { ok: false, error: parseError("too-large", message) };
  }
  return decode(bytes);
}

/** Asks the file for no more than the limit, whatever its size says: it may grow, or be one that has no size. */
async function readAtMost(path: string, limit: number, signal?: AbortSignal): Promise<Buffer> {
  const file = await open(path, "r");
  const chunks: Buffer[] = [];
  for await (const chunk of file.createReadStream({ end: limit - 1, ...(signal === undefined ? {} : { signal }) })) {
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}

function decode(bytes: Buffer): SqlFile {
  try {
    return { ok: true, text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch {
    const isUtf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
    const message = `not UTF-8${isUtf16 ? " but UTF-16" : ""}; save the file as UTF-8`;
    return { ok: false, error: parseError("not-utf8", message) };
  }
}

const deniedCodes = new Set(["EACCES", "EPERM"]);

/** What a failed read of a file or folder is. */
export function unreadable(error: unknown): ParseError {
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
  const failure: FileFailure = code !== undefined && deniedCodes.has(code) ? "permission-denied" : "unreadable";
  return parseError(failure, `cannot be read: ${code ?? printable(String(error))}`);
}
