import { setImmediate } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { reviewSql, type SqlReview } from "./review.js";
import { readSqlFile } from "./sql-file.js";
import { listSqlFiles, type SqlPath } from "./sql-folder.js";

/** The set of migrations that comes with the demo. */
export const defaultMigrations = fileURLToPath(new URL("../../migrations", import.meta.url));

export interface FileReview extends SqlReview {
  /** Path inside the folder, with `/` between its parts. */
  readonly file: string;
}

export interface ReviewOptions {
  readonly signal?: AbortSignal;
  /** Files above this size are not parsed but reported `too-large`; 2 MiB by default. */
  readonly maxBytes?: number;
  /** Called after each file, and awaited before the next; `count` is the number of all files. */
  readonly onFile?: (review: FileReview, index: number, count: number) => void | Promise<void>;
}

/** Reviews one migration that `listSqlFiles` found. Throws only the reason of an aborted `signal`. */
export async function reviewFile(entry: SqlPath, options: Omit<ReviewOptions, "onFile"> = {}): Promise<FileReview> {
  const { error, file, path } = entry;
  if (error !== undefined) return { file, statements: 0, findings: [], parseError: error };
  const read = await readSqlFile(path, options.maxBytes, options.signal);
  if (!read.ok) return { file, statements: 0, findings: [], parseError: read.error };
  return { file, ...(await reviewSql(read.text)) };
}

/**
 * Reviews every `*.sql` file under a folder, one after the other. A file that cannot be read or
 * parsed is a result with `parseError`; the others go on. An empty folder gives an empty list.
 *
 * @throws CandorError `bad-argument` when `folder` is not a folder that can be read.
 * @throws the reason of `signal`, between files, when it is aborted.
 */
export async function reviewFolder(folder: string, options: ReviewOptions = {}): Promise<readonly FileReview[]> {
  const { onFile, signal } = options;
  const files = await listSqlFiles(folder, signal);
  const reviews: FileReview[] = [];
  for (const [index, entry] of files.entries()) {
    // Parsing does not yield: give timers and the network, a recall among it, their turn.
    await setImmediate();
    signal?.throwIfAborted();
    const review = await reviewFile(entry, options);
    reviews.push(review);
    await onFile?.(review, index, files.length);
  }
  return reviews;
}
