import { linkSync, readFileSync, readdirSync, truncateSync, unlinkSync, writeFileSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { CandorError } from "@candor/contract";
import { isGone, ownMark, type ProcessMark } from "./process-mark.js";

const namePattern = /^lock\.(\d{1,9})$/;

/** How often a lock that another taker got first is looked at again. */
const mostRounds = 100;

/**
 * The lock of a folder. Its files are numbered and never deleted: whoever finds the last one stale links the next
 * number into place, which the file system lets one taker do only, however many saw the same stale one. A file appears
 * with its content in it; an empty one was released.
 */
export class Lock {
  readonly #path: string;
  #held = true;

  private constructor(path: string) {
    this.#path = path;
  }

  /** @throws CandorError `spool-locked` while another process, or another task of this one, holds it. */
  static take(folder: string, own: ProcessMark = ownMark()): Lock {
    for (let round = 0; round < mostRounds; round += 1) {
      const last = lastNumber(folder);
      const holder = last === 0 ? undefined : readHolder(join(folder, `lock.${last}`));
      if (holder !== undefined && !isGone(holder, own)) throw locked(folder, last, holder);
      const path = join(folder, `lock.${last + 1}`);
      if (place(folder, path, own)) return new Lock(path);
    }
    throw locked(folder, lastNumber(folder), undefined);
  }

  release(): void {
    if (!this.#held) return;
    this.#held = false;
    truncateSync(this.#path, 0);
  }
}

function lastNumber(folder: string): number {
  return Math.max(0, ...readdirSync(folder).map((name) => Number(namePattern.exec(name)?.[1] ?? 0)));
}

/** Who holds the lock; undefined if it was released. What can't be read counts as a process on a host of its own. */
function readHolder(path: string): ProcessMark | undefined {
  const text = readFileSync(path, "utf8");
  if (text === "") return undefined;
  try {
    const mark = JSON.parse(text) as ProcessMark;
    if (Number.isSafeInteger(mark.pid) && typeof mark.host === "string") return mark;
  } catch {
    // Falls through.
  }
  return { pid: 0, host: "a host unknown" };
}

function place(folder: string, path: string, own: ProcessMark): boolean {
  const draft = join(folder, `draft.${randomUUID()}`);
  writeFileSync(draft, JSON.stringify(own), { mode: 0o600 });
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    unlinkSync(draft);
  }
}

function locked(folder: string, number: number, holder: ProcessMark | undefined): CandorError {
  const who = holder === undefined ? "another process" : `process ${holder.pid} on ${holder.host}`;
  return new CandorError(
    "spool-locked",
    `${who} works on this task (lock.${number} in ${folder}). Leave it the task; if that process is certainly gone, empty the lock file.`,
    { path: folder, details: holder === undefined ? {} : { pid: holder.pid, host: holder.host } },
  );
}
