import { linkSync, readFileSync, readdirSync, rmSync, truncateSync, unlinkSync, writeFileSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { CandorError } from "@candor/contract";
import { isGone, ownMark, type ProcessMark } from "./process-mark.js";

const namePattern = /^lock\.(\d{1,9})$/;

/** How often a lock that another taker got first is looked at again. */
const mostRounds = 100;

export interface FolderLockOptions {
  /** Makes the error for a folder that is held; undefined where it can't be told by whom. */
  readonly locked: (holder: ProcessMark | undefined) => CandorError;
  /** This process, unless told otherwise. */
  readonly own?: ProcessMark;
}

/**
 * The lock of a folder. Its files are numbered, and the last number holds: whoever finds that one stale links the next
 * into place, which the file system lets one taker do only, however many saw the same stale one. A file appears with its
 * content in it; an empty one was released. Lower numbers are removed; who links one of those anew, late, sees that it is
 * not the last.
 */
export class FolderLock {
  readonly #path: string;
  #held = true;

  private constructor(path: string) {
    this.#path = path;
  }

  /**
   * Takes the lock of a folder that is there. A holder that is certainly gone, kill -9 included, holds it no more.
   *
   * @throws CandorError what `locked` makes, while another process, or another part of this one, holds it
   */
  static take(folder: string, { locked, own = ownMark() }: FolderLockOptions): FolderLock {
    for (let round = 0; round < mostRounds; round += 1) {
      const last = lastNumber(folder);
      const holder = last === 0 ? undefined : readHolder(pathOf(folder, last));
      if (holder !== undefined && !isGone(holder, own)) throw locked(holder);
      const number = last + 1;
      if (!place(folder, number, own)) continue;
      if (lastNumber(folder) === number) {
        removeBelow(folder, number);
        return new FolderLock(pathOf(folder, number));
      }
      rmSync(pathOf(folder, number), { force: true });
    }
    throw locked(undefined);
  }

  release(): void {
    if (!this.#held) return;
    this.#held = false;
    truncateSync(this.#path, 0);
  }
}

function pathOf(folder: string, number: number): string {
  return join(folder, `lock.${number}`);
}

function numbers(folder: string): number[] {
  return readdirSync(folder).map((name) => Number(namePattern.exec(name)?.[1] ?? 0));
}

function lastNumber(folder: string): number {
  return Math.max(0, ...numbers(folder));
}

function removeBelow(folder: string, number: number): void {
  for (const other of numbers(folder)) if (other > 0 && other < number) rmSync(pathOf(folder, other), { force: true });
}

/** Who holds the lock; undefined if it was released. What can't be read counts as a process on a host of its own. */
function readHolder(path: string): ProcessMark | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    // A later taker removed it.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  if (text === "") return undefined;
  try {
    const mark = JSON.parse(text) as ProcessMark;
    if (Number.isSafeInteger(mark.pid) && typeof mark.host === "string") return mark;
  } catch {
    // Falls through.
  }
  return { pid: 0, host: "a host unknown" };
}

function place(folder: string, number: number, own: ProcessMark): boolean {
  const draft = join(folder, `draft.${randomUUID()}`);
  writeFileSync(draft, JSON.stringify(own), { mode: 0o600 });
  try {
    linkSync(draft, pathOf(folder, number));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    unlinkSync(draft);
  }
}
