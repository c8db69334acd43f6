import { isCandorError, type Logger } from "@candor/contract";
import type { GuardRecords } from "@candor/ledger";
import type { LogClient } from "./log-client.js";
import type { SeenCheckpoint } from "./memory-file.js";
import { messageHash, type Memory } from "./memory.js";

/** Pause between two looks at a lane's checkpoint. */
const everyMs = 2_000;

/**
 * The last checkpoint of a lane, after checking that a guard of the operator signed it for that lane.
 *
 * @throws CandorError `untrusted-key`, `bad-signature`, `subject-mismatch` or `malformed`
 */
export async function readLastCheckpoint(
  client: Pick<LogClient, "lastCheckpoint">,
  lane: number,
  records: GuardRecords,
): Promise<SeenCheckpoint | undefined> {
  const note = await client.lastCheckpoint(lane);
  if (note === undefined) return undefined;
  const { sequence, subject, data, certificate } = note;
  const { size, root } = records.checkpoint(subject, data, certificate);
  return { sequence, subject, hash: messageHash(subject, data), size, root: Buffer.from(root).toString("base64") };
}

/** Remembers the checkpoints of the lanes that this process has to do with, now and then. */
export class CheckpointWatch {
  readonly #client: LogClient;
  readonly #memory: Memory;
  readonly #records: GuardRecords;
  readonly #logger: Logger;
  readonly #lanes = new Set<number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(client: LogClient, memory: Memory, records: GuardRecords, logger: Logger) {
    this.#client = client;
    this.#memory = memory;
    this.#records = records;
    this.#logger = logger;
  }

  /** Something happened on the lane, so that a new checkpoint is to be expected. */
  touch(lane: number): void {
    this.#lanes.add(lane);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.look();
    }, everyMs).unref();
  }

  /** Looks at every lane that was touched since. */
  async look(): Promise<void> {
    const lanes = [...this.#lanes];
    this.#lanes.clear();
    await Promise.all(lanes.map((lane) => this.#lookAt(lane)));
  }

  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    await this.look();
    clearTimeout(this.#timer);
  }

  async #lookAt(lane: number): Promise<void> {
    try {
      const checkpoint = await readLastCheckpoint(this.#client, lane, this.#records);
      if (checkpoint !== undefined) this.#memory.sawCheckpoint(lane, checkpoint);
    } catch (error) {
      if (!isCandorError(error)) throw error;
      this.#logger.warn({ err: error, lane }, "the lane's checkpoint can't be used");
    }
  }
}
