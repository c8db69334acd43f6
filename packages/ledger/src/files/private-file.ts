import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  writeFileSync,
  type Stats,
} from "node:fs";
import { CandorError } from "@candor/contract";
import { fileError } from "./file-error.js";

const fileMode = 0o600;
const folderMode = 0o700;
const maxFileBytes = 64 * 1024;

/** Permissions are those of POSIX; elsewhere there is nothing to check. */
function ownUser(): number | undefined {
  return process.getuid?.();
}

function octal(mode: number): string {
  return (mode & 0o777).toString(8).padStart(4, "0");
}

/** Throws if the file or folder belongs to somebody else. Root's files are trusted, and root trusts everybody's. */
function requireOwner(path: string, stats: Stats): void {
  const user = ownUser();
  if (user === undefined || user === 0 || stats.uid === user || stats.uid === 0) return;
  throw new CandorError(
    "key-exposed",
    `${path} belongs to user ${stats.uid}, who can change it. Run: chown ${user} ${path}`,
    { path },
  );
}

function requireMode(path: string, stats: Stats, forbidden: number, harm: string, wanted: number): void {
  if (ownUser() === undefined || (stats.mode & forbidden) === 0) return;
  throw new CandorError(
    "key-exposed",
    `${path} has mode ${octal(stats.mode)}: other users can ${harm} it. Run: chmod ${octal(wanted)} ${path}. If others had access, make new keys.`,
    { path },
  );
}

/**
 * Writes a new file that only its owner can read, through to the disk.
 *
 * @throws CandorError `bad-file` if there is one already, which is left as it is; `folder-not-writable`, `not-found` or
 *   `store-full` if it cannot be made
 */
export function writePrivateFile(path: string, text: string): void {
  try {
    const file = openSync(path, "wx", fileMode);
    try {
      writeFileSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  } catch (cause) {
    throw fileError(cause, path, "write");
  }
}

/** Not there on Windows, which has no pipes with a path in a folder. */
const { O_RDONLY, O_NONBLOCK = 0 } = constants as { readonly O_RDONLY: number; readonly O_NONBLOCK?: number };

/** Without waiting: a named pipe in place of a file would hold this process until somebody writes into it. */
function open(path: string): number {
  try {
    return openSync(path, O_RDONLY | O_NONBLOCK);
  } catch (cause) {
    throw fileError(cause, path, "read");
  }
}

function readOpen(path: string, file: number, check: (stats: Stats) => void): string {
  const stats = fstatSync(file);
  if (!stats.isFile() || stats.size > maxFileBytes) {
    throw new CandorError("bad-file", `${path} is no regular file of at most ${maxFileBytes} bytes; check the path.`, {
      path,
    });
  }
  check(stats);
  return readFileSync(file, "utf8");
}

function read(path: string, check: (stats: Stats) => void): string {
  // Opened first and looked at afterwards, so that what is checked is what is read.
  const file = open(path);
  try {
    return readOpen(path, file, check);
  } finally {
    closeSync(file);
  }
}

/** Reads a small file whoever may change it. @throws CandorError `not-found`, `permission-denied`, `bad-file` */
export function readRegularFile(path: string): string {
  return read(path, () => undefined);
}

/**
 * Reads a file that nobody else may read.
 *
 * @throws CandorError `key-exposed` if group or others can read or write it or another user owns it, `not-found`,
 *   `permission-denied`, `bad-file`
 */
export function readPrivateFile(path: string): string {
  return read(path, (stats) => {
    requireOwner(path, stats);
    requireMode(path, stats, 0o077, "read", fileMode);
  });
}

/**
 * Reads a file that nobody else may change.
 *
 * @throws CandorError `key-exposed` if group or others can write it or another user owns it, `not-found`, `permission-denied`,
 *   `bad-file`
 */
export function readOwnFile(path: string): string {
  return read(path, (stats) => {
    requireOwner(path, stats);
    requireMode(path, stats, 0o022, "change", fileMode);
  });
}

/** Makes a folder that only its owner can enter. @throws CandorError `bad-file`, `folder-not-writable`, `not-found` */
export function makePrivateFolder(path: string): void {
  try {
    mkdirSync(path, { mode: folderMode });
  } catch (cause) {
    throw fileError(cause, path, "write");
  }
}

/**
 * Checks that nobody else can put files into a folder.
 *
 * @throws CandorError `key-exposed`, `not-found`, `bad-file`
 */
export function requireOwnFolder(path: string): void {
  let stats: Stats;
  try {
    stats = statSync(path);
  } catch (cause) {
    throw fileError(cause, path, "read");
  }
  if (!stats.isDirectory()) throw new CandorError("bad-file", `${path} is no folder; check the path.`, { path });
  requireOwner(path, stats);
  requireMode(path, stats, 0o022, "change", folderMode);
}
