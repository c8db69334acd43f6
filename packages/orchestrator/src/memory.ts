import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { CandorError, concatBytes, domainPrefix, hex, sha256, utf8, type Logger } from "@candor/contract";
import {
  intentKey,
  merged,
  nothingSeen,
  readRecollection,
  writeRecollection,
  type OwnIntent,
  type Recollection,
  type SeenCheckpoint,
  type SeenMessage,
} from "./memory-file.js";

/** How long a write waits for more to write. What a crash forgets in that time was only just seen. */
const gatherMs = 100;

const prefix = domainPrefix("candor/v1/seen");

/** What a message of the verdict stream is remembered by. */
export function messageHash(subject: string, data: Uint8Array): string {
  return hex(sha256(concatBytes(prefix, utf8(subject), Uint8Array.of(0), data)));
}

/**
 * What an orchestrator remembers of a log between connections, so that it notices when log and verdicts were
 * rolled back together (B9). One file per operator and fleet; replicas may share a folder.
 */
export class Memory {
  readonly #path: string | undefined;
  readonly #operator: string;
  readonly #logger: Logger;
  #verdict: SeenMessage | undefined;
  readonly #lanes: Map<string, SeenCheckpoint>;
  readonly #intents: Map<string, OwnIntent>;
  readonly #forgotten = new Set<string>();
  #writing: Promise<void> | undefined;
  #dirty = false;

  private constructor(path: string | undefined, operator: string, logger: Logger, start: Recollection) {
    this.#path = path;
    this.#operator = operator;
    this.#logger = logger;
    this.#verdict = start.verdict;
    this.#lanes = new Map(Object.entries(start.lanes));
    this.#intents = new Map(Object.entries(start.intents));
  }

  /**
   * @param folder undefined: remembered for as long as the process lives
   * @throws CandorError `bad-file` for a file that can't be read, `folder-not-writable`
   */
  static async open(folder: string | undefined, operator: string, fleet: string, logger: Logger): Promise<Memory> {
    if (folder === undefined) return new Memory(undefined, operator, logger, nothingSeen);
    const path = join(folder, `${fleet}-${operator}.json`);
    await mkdir(folder, { recursive: true, mode: 0o700 }).catch((cause: unknown) => {
      throw notWritable(path, cause);
    });
    return new Memory(path, operator, logger, await readRecollection(path, operator));
  }

  get path(): string | undefined {
    return this.#path;
  }

  get recollection(): Recollection {
    return {
      ...(this.#verdict === undefined ? {} : { verdict: this.#verdict }),
      lanes: Object.fromEntries(this.#lanes),
      intents: Object.fromEntries(this.#intents),
    };
  }

  sawVerdict(message: SeenMessage): void {
    if (message.sequence <= (this.#verdict?.sequence ?? 0)) return;
    this.#verdict = message;
    this.#changed();
  }

  sawCheckpoint(lane: number, checkpoint: SeenCheckpoint): void {
    if (checkpoint.sequence <= (this.#lanes.get(String(lane))?.sequence ?? 0)) return;
    this.#lanes.set(String(lane), checkpoint);
    this.#changed();
  }

  storedIntent(intent: OwnIntent): void {
    this.#intents.set(intentKey(intent), intent);
    this.#changed();
  }

  /** Forgets the tasks of a run that is closed, so that the file stays small. */
  forgetRun(run: string): void {
    for (const [key, intent] of this.#intents) if (intent.run === run) this.#intents.delete(key);
    this.#forgotten.add(run);
    this.#changed();
  }

  /** Writes what is not yet written. */
  async flush(): Promise<void> {
    while (this.#dirty || this.#writing !== undefined) {
      if (this.#writing !== undefined) await this.#writing;
      else await this.#write();
    }
  }

  #changed(): void {
    this.#dirty = true;
    if (this.#path === undefined || this.#writing !== undefined) return;
    this.#writing = pause(gatherMs)
      .then(() => this.#write())
      .catch((error: unknown) => {
        this.#logger.error({ err: error }, "the orchestrator's memory could not be written");
      })
      .finally(() => {
        this.#writing = undefined;
        if (this.#dirty) this.#changed();
      });
  }

  async #write(): Promise<void> {
    this.#dirty = false;
    if (this.#path === undefined) return;
    // A replica of this fleet may have written since: keep whatever is newer.
    const onDisk = await readRecollection(this.#path, this.#operator);
    const both = merged(this.recollection, onDisk);
    const intents = Object.entries(both.intents).filter(([, intent]) => !this.#forgotten.has(intent.run));
    await writeAtomically(
      this.#path,
      writeRecollection({ ...both, intents: Object.fromEntries(intents) }, this.#operator),
    );
  }
}

async function writeAtomically(path: string, text: string): Promise<void> {
  const draft = `${path}.${process.pid}.tmp`;
  try {
    const file = await open(draft, "w", 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
    await syncFolder(dirname(path));
  } catch (cause) {
    await rm(draft, { force: true });
    throw notWritable(path, cause);
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function notWritable(path: string, cause: unknown): CandorError {
  return new CandorError(
    "folder-not-writable",
    `The orchestrator's memory ${path} can't be written: make the folder writable, or name another with memoryDir.`,
    { path, cause },
  );
}
