import { accessSync, constants, existsSync, mkdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { CandorError } from "@candor/contract";

function make(folder: string): void {
  if (existsSync(folder)) return;
  const parent = dirname(folder);
  // Step by step: Node's own recursive mkdir never returns where a file system refuses with ENOENT, as /proc does.
  if (parent !== folder) make(parent);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another process may have been faster.
    if (!existsSync(folder)) throw error;
  }
}

/** True for the error of a path that leads nowhere; one that this user may not look at is another matter. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");
}

/**
 * Checks that this user may look into a folder; one that is not there is in order.
 *
 * @throws CandorError `permission-denied`, `bad-argument` if it is no folder
 */
export function requireReadable(dir: string): void {
  try {
    if (!statSync(dir).isDirectory()) throw new CandorError("bad-argument", `${dir} is no folder: correct the path.`);
    accessSync(dir, constants.R_OK | constants.X_OK);
  } catch (cause) {
    if (cause instanceof CandorError) throw cause;
    if (isMissing(cause)) return;
    throw new CandorError(
      "permission-denied",
      `${dir} may not be read by this user: correct its owner and rights, or run this as the user that it belongs to.`,
      { path: dir, cause },
    );
  }
}

/**
 * Makes a folder, and those above it, for this user alone; one that is there is left as it is.
 *
 * @throws CandorError `folder-not-writable` if it can't be made or written
 */
export function makeFolder(dir: string): void {
  const folder = resolve(dir);
  try {
    make(folder);
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw new CandorError(
      "folder-not-writable",
      `The folder ${folder} can't be made, read or written: choose another, or correct its owner and rights.`,
      { path: folder, cause },
    );
  }
}
