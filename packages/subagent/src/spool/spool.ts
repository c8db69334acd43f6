import { chmodSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { CandorError, equalBytes, type EventKind } from "@candor/contract";
import { createSigner, type Signer } from "@candor/ledger";
import { createKeyFile, FolderLock, ownMark, readKeyFile, type ProcessMark } from "@candor/ledger/files";
import { RecordFile } from "./record-file.js";
import { SpoolContent } from "./spool-content.js";
import { encodeSpoolRecord, type Expectation, type SpoolRecord } from "./spool-record.js";

export interface SpoolPlace {
  readonly actor: string;
  readonly run: string;
  readonly task: string;
  readonly epoch: number;
  /** Hash of the delegation that the task is done under. */
  readonly delegation: Uint8Array;
}

const seedName = "task.seed";
const logName = "events.log";
/** How long what an effect writes may lie in the machine's memory, in ms; it is in the log and outlives the process. */
const flushMs = 50;

/**
 * The folder in which one epoch of one task lives on disk: the ephemeral task key, every event before it is published,
 * and the results of effects. Only its holder may publish under that epoch; without it nobody continues the chain.
 */
export class Spool {
  readonly folder: string;
  /** Signs for the ephemeral task key. */
  readonly signer: Signer;
  /** What an earlier process left; empty for a new task. */
  readonly content: SpoolContent;
  readonly #lock: FolderLock;
  readonly #file: RecordFile;
  #flushing: NodeJS.Timeout | undefined;

  private constructor(
    folder: string,
    parts: { signer: Signer; content: SpoolContent; lock: FolderLock; file: RecordFile },
  ) {
    this.folder = folder;
    this.signer = parts.signer;
    this.content = parts.content;
    this.#lock = parts.lock;
    this.#file = parts.file;
  }

  /**
   * Opens the task's folder under `root` and locks it, or makes it.
   *
   * @throws CandorError `spool-locked` while another process works on the task, `spool-lost` if what is there can't be
   *   continued, `key-exposed` if others can read the task key, `folder-not-writable`
   */
  static open(root: string, place: SpoolPlace): Spool {
    const folder = join(root, `${place.actor}.${place.run}.${place.task}.${place.epoch}`);
    makeFolder(folder);
    const lock = takeLock(folder);
    try {
      const { file, records } = RecordFile.open(join(folder, logName));
      try {
        const signer = createSigner(records.length > 0 ? readSeed(folder) : makeSeed(folder));
        const content = SpoolContent.from(records);
        requireSame(folder, content, place, signer);
        const spool = new Spool(folder, { signer, content, lock, file });
        if (content.opened === undefined) {
          spool.write({ type: "opened", delegation: place.delegation, taskKey: signer.publicKey });
        }
        const { boot } = ownMark();
        if (boot !== undefined && boot !== content.boot) spool.write({ type: "boot", id: boot });
        return spool;
      } catch (error) {
        file.close();
        throw error;
      }
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  /** True if the machine certainly ran on since an earlier process wrote here, so that nothing that it wrote is missing. */
  get isWhole(): boolean {
    const { boot } = this.content;
    return boot !== undefined && boot === ownMark().boot;
  }

  /** Appends an event before it is published. `expect` is the fence or the compare-and-set that it goes out behind. */
  event(seq: number, kind: EventKind, frame: Uint8Array, expect?: Expectation): void {
    this.write({ type: "event", seq, kind, frame, ...(expect === undefined ? {} : { expect }) });
  }

  /** Appends any record. @throws CandorError `folder-not-writable`, and nothing was appended. */
  write(record: SpoolRecord): void {
    this.#file.append(encodeSpoolRecord(record));
  }

  /**
   * Appends a record with the next, or within a moment: for what may be missing if the process is killed before. What the
   * disk refuses is told by the next append.
   */
  note(record: SpoolRecord): void {
    this.#file.note(encodeSpoolRecord(record));
  }

  /** Reads what the spool holds by now. @throws CandorError `spool-lost`, `folder-not-writable` */
  read(): SpoolContent {
    return SpoolContent.from(this.#file.read());
  }

  /** Waits until everything appended so far is on disk. */
  sync(): Promise<void> {
    return this.#file.sync();
  }

  /** Sees to it that everything appended so far is on disk within some milliseconds. What the disk refuses is told by the next append. */
  flushSoon(): void {
    this.#flushing ??= setTimeout(() => {
      this.#flushing = undefined;
      this.#file.sync().catch(() => undefined);
    }, flushMs).unref();
  }

  close(): void {
    clearTimeout(this.#flushing);
    this.#file.close();
    this.#lock.release();
  }
}

function takeLock(folder: string): FolderLock {
  try {
    return FolderLock.take(folder, { locked: (holder) => locked(folder, holder) });
  } catch (cause) {
    throw cause instanceof CandorError ? cause : notWritable(folder, cause);
  }
}

function locked(folder: string, holder: ProcessMark | undefined): CandorError {
  const who = holder === undefined ? "another process" : `process ${holder.pid} on ${holder.host}`;
  return new CandorError(
    "spool-locked",
    `${who} works on this task, in ${folder}. Leave it the task; if that process is certainly gone, empty the last lock file there.`,
    { path: folder, details: holder === undefined ? {} : { pid: holder.pid, host: holder.host } },
  );
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    chmodSync(folder, 0o700);
  } catch (cause) {
    throw notWritable(folder, cause);
  }
}

/** A key that no record names was never used: a crash may have left half of it. */
function makeSeed(folder: string): string {
  const path = join(folder, seedName);
  rmSync(path, { force: true });
  return createKeyFile(path);
}

function readSeed(folder: string): string {
  const path = join(folder, seedName);
  if (!existsSync(path)) throw lost(folder, "its task key is gone");
  return readKeyFile(path);
}

function requireSame(folder: string, content: SpoolContent, place: SpoolPlace, signer: Signer): void {
  const { opened } = content;
  if (opened === undefined) return;
  if (!equalBytes(opened.delegation, place.delegation)) throw lost(folder, "it belongs to another delegation");
  if (opened.taskKey !== signer.publicKey) throw lost(folder, "its task key is another one");
}

function lost(folder: string, why: string): CandorError {
  return new CandorError(
    "spool-lost",
    `The spool ${folder} can't be continued: ${why}. Ask the orchestrator to delegate the task again.`,
    { path: folder },
  );
}

function notWritable(folder: string, cause: unknown): CandorError {
  return new CandorError(
    "folder-not-writable",
    `The spool folder ${folder} can't be written: check its rights and the disk's space, or give another as spoolDir.`,
    { cause, path: folder },
  );
}
