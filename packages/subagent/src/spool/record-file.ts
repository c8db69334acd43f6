import { closeSync, fdatasync, fstatSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { promisify } from "node:util";
import { CandorError, concatBytes, equalBytes, sha256 } from "@candor/contract";

const syncData = promisify(fdatasync);

/** Before each record: its length in 4 bytes, most significant first, and the first 8 bytes of its SHA-256. */
const headLength = 12;
const checkLength = 8;

export interface ReadRecords {
  readonly records: readonly Uint8Array[];
  /** Where the last whole record ends; what lies behind is a torn tail. */
  readonly end: number;
}

export function frameRecord(record: Uint8Array): Uint8Array {
  const framed = new Uint8Array(headLength + record.length);
  new DataView(framed.buffer).setUint32(0, record.length);
  framed.set(sha256(record).subarray(0, checkLength), 4);
  framed.set(record, headLength);
  return framed;
}

function recordAt(bytes: Uint8Array, offset: number): { record: Uint8Array; end: number; whole: boolean } | undefined {
  if (offset + headLength > bytes.length) return undefined;
  const length = new DataView(bytes.buffer, bytes.byteOffset + offset, 4).getUint32(0);
  const start = offset + headLength;
  const end = start + length;
  if (end > bytes.length) return undefined;
  const record = bytes.subarray(start, end);
  const check = bytes.subarray(offset + 4, start);
  return { record, end, whole: length > 0 && equalBytes(sha256(record).subarray(0, checkLength), check) };
}

/**
 * Reads records up to the first that is not whole. A torn tail is what a crash leaves and nothing in it was ever sent,
 * since records are on disk before they are.
 *
 * @throws CandorError `spool-lost` if a damaged record is followed by a whole one: then what was sent is lost
 */
export function readRecords(bytes: Uint8Array): ReadRecords {
  const records: Uint8Array[] = [];
  let end = 0;
  for (let next = recordAt(bytes, 0); next !== undefined; next = recordAt(bytes, end)) {
    if (!next.whole) {
      if (recordAt(bytes, next.end)?.whole === true) {
        throw new CandorError(
          "spool-lost",
          `The spool is damaged at byte ${end}, in the middle: ask the orchestrator to delegate the task again.`,
        );
      }
      break;
    }
    records.push(next.record);
    end = next.end;
  }
  return { records, end };
}

/** An append-only file of records. */
export class RecordFile {
  readonly #path: string;
  readonly #fd: number;
  #end: number;
  #synced: number;
  #syncing: Promise<void> | undefined;
  #broken = false;
  /** Framed, for the next write. */
  #notes: Uint8Array[] = [];
  #noting: NodeJS.Immediate | undefined;

  private constructor(path: string, fd: number, end: number) {
    this.#path = path;
    this.#fd = fd;
    this.#end = end;
    this.#synced = end;
  }

  /**
   * Opens or makes the file, cuts a torn tail off, and gives what it holds.
   * @throws CandorError `spool-lost` for damage in the middle, `folder-not-writable`
   */
  static open(path: string): { file: RecordFile; records: readonly Uint8Array[] } {
    const fd = attempt(path, () => openSync(path, "a+", 0o600));
    try {
      const { records, end } = readRecords(new Uint8Array(readFileSync(path)));
      if (fstatSync(fd).size > end) ftruncateSync(fd, end);
      return { file: new RecordFile(path, fd, end), records };
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  }

  /**
   * Appends one record. It outlives the process once this returns, and the machine after `sync()`.
   * @throws CandorError `folder-not-writable`, and the file is as it was
   */
  append(record: Uint8Array): void {
    this.#notes.push(frameRecord(record));
    try {
      this.#flush();
    } catch (error) {
      this.#notes.pop();
      throw error;
    }
  }

  /**
   * Appends one record with the next that is appended, or at the end of this turn of the event loop: for what may be missing
   * after the process was killed. What can't be written then is tried again with what comes next.
   */
  note(record: Uint8Array): void {
    this.#notes.push(frameRecord(record));
    this.#noting ??= setImmediate(() => {
      this.#flushNotes();
    });
  }

  #flushNotes(): void {
    try {
      this.#flush();
    } catch {
      // Whoever appends next is told.
    }
  }

  #flush(): void {
    clearImmediate(this.#noting);
    this.#noting = undefined;
    if (this.#notes.length === 0) return;
    if (this.#broken) throw writeFailure(this.#path, undefined);
    const bytes = this.#notes.length === 1 ? (this.#notes[0] as Uint8Array) : concatBytes(...this.#notes);
    try {
      let written = 0;
      while (written < bytes.length) written += writeSync(this.#fd, bytes, written);
    } catch (cause) {
      // Half a record in the middle would hide all that follow it.
      try {
        ftruncateSync(this.#fd, this.#end);
      } catch {
        this.#broken = true;
      }
      throw writeFailure(this.#path, cause);
    }
    this.#notes = [];
    this.#end += bytes.length;
  }

  /** All records so far. @throws CandorError `spool-lost` for damage, `folder-not-writable` if it can't be read */
  read(): readonly Uint8Array[] {
    this.#flushNotes();
    return attempt(this.#path, () => readRecords(new Uint8Array(readFileSync(this.#path))).records);
  }

  /**
   * Waits until everything appended so far is on disk. Calls that meet share one write.
   * @throws CandorError `folder-not-writable` if the disk refuses
   */
  async sync(): Promise<void> {
    this.#flushNotes();
    const wanted = this.#end;
    while (this.#synced < wanted) {
      this.#syncing ??= this.#syncOnce().finally(() => {
        this.#syncing = undefined;
      });
      await this.#syncing;
    }
  }

  close(): void {
    this.#flushNotes();
    if (this.#broken) return;
    this.#broken = true;
    closeSync(this.#fd);
  }

  async #syncOnce(): Promise<void> {
    const end = this.#end;
    try {
      await syncData(this.#fd);
    } catch (cause) {
      if (!this.#broken) throw writeFailure(this.#path, cause);
    }
    this.#synced = Math.max(this.#synced, end);
  }
}

function writeFailure(path: string, cause: unknown): CandorError {
  return new CandorError(
    "folder-not-writable",
    `The spool ${path} takes no more: check the disk's space and the folder's rights. Nothing new is done until it does.`,
    { cause, path },
  );
}

function attempt<T>(path: string, run: () => T): T {
  try {
    return run();
  } catch (cause) {
    throw cause instanceof CandorError ? cause : writeFailure(path, cause);
  }
}
