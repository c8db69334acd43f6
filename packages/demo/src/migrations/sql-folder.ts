import { readdir, realpath, stat } from "node:fs/promises";
import { extname, join } from "node:path";
import { CandorError } from "@candor/contract";
import type { ParseError } from "./failure.js";
import { unreadable } from "./sql-file.js";

/** A migration that was found, or a place in the folder that could not be looked at. */
export interface SqlPath {
  /** Path inside the folder, with `/` between its parts. */
  readonly file: string;
  readonly path: string;
  readonly error?: ParseError;
}

/** Not migrations of the folder's owner: other people's packages, and what tools hide. */
const isSkipped = (name: string): boolean => name === "node_modules" || name.startsWith(".");

/**
 * Every `*.sql` file of a folder and its subfolders, in order of their paths. Links are followed and
 * each file or folder is taken once, so a loop of links ends. `node_modules` and names that start
 * with a dot are left out. A subfolder or link that cannot be read is an entry with `error`.
 *
 * @throws CandorError `bad-argument` when `folder` itself is not a folder that can be read.
 */
export async function listSqlFiles(folder: string, signal?: AbortSignal): Promise<readonly SqlPath[]> {
  signal?.throwIfAborted();
  const seen = new Set<string>();
  const found: SqlPath[] = [];

  const visit = async (path: string, file: string): Promise<void> => {
    signal?.throwIfAborted();
    const isSql = extname(path).toLowerCase() === ".sql";
    try {
      const kind = await stat(path);
      const isFolder = kind.isDirectory();
      if (!isFolder && !(isSql && kind.isFile())) return;
      const real = await realpath(path);
      if (seen.has(real)) return;
      seen.add(real);
      if (isFolder) await enter(path, file);
      else found.push({ file, path });
    } catch (error) {
      signal?.throwIfAborted();
      // What is wrong with a link to something that is no migration is not our business.
      const isLoose = error instanceof Error && "code" in error && error.code === "ENOENT" && !isSql;
      if (!isLoose) found.push({ file, path, error: unreadable(error) });
    }
  };

  const enter = async (path: string, inside: string): Promise<void> => {
    for (const name of (await readdir(path)).sort()) {
      if (!isSkipped(name)) await visit(join(path, name), inside === "" ? name : `${inside}/${name}`);
    }
  };

  try {
    seen.add(await realpath(folder));
    await enter(folder, "");
  } catch (error) {
    signal?.throwIfAborted();
    throw new CandorError(
      "bad-argument",
      `migrations: "${folder}" is not a folder that can be read (${unreadable(error).message}); name a folder with *.sql files`,
      { cause: error },
    );
  }
  return found;
}
