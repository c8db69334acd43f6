import { LaneReader, type Bus } from "@candor/bus";
import { streams, type CandorError, type Logger } from "@candor/contract";
import type { StoredRecord } from "./log-client.js";

export interface RecordStreamOptions {
  /** Subject filter; the whole stream without one. */
  readonly filter?: string;
  /** Sequence after which to begin. */
  readonly after: number;
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

/**
 * Messages of the verdict stream: first all that are there, then as they come, until the signal. While the caller deals with
 * one, nothing more than a batch is held.
 *
 * @throws CandorError `permission-denied`, `connection-closed` or `log-rolled-back` when reading can't go on
 */
export async function* readRecords(
  bus: Bus,
  options: RecordStreamOptions,
): AsyncGenerator<StoredRecord, void, undefined> {
  const { filter, after, signal, logger } = options;
  let batch: readonly StoredRecord[] = [];
  let halted: CandorError | undefined;
  let wake = (): void => undefined;
  let release = (): void => undefined;
  const reader = new LaneReader(bus, {
    stream: streams.verdicts,
    ...(filter === undefined ? {} : { filter }),
    from: after + 1,
    onMessages: (messages) => {
      batch = messages.map(({ seq, subject, data }) => ({ sequence: seq, subject, data: data.slice() }));
      wake();
      return new Promise((resolve) => {
        release = resolve;
      });
    },
    onHalt: (error) => {
      halted = error;
      wake();
    },
    logger,
  });
  const onAbort = (): void => {
    wake();
  };
  const isOver = (): boolean => signal.aborted;
  signal.addEventListener("abort", onAbort);
  reader.start();
  try {
    while (!isOver()) {
      if (batch.length > 0) {
        const records = batch;
        batch = [];
        for (const record of records) {
          yield record;
          if (isOver()) return;
        }
        release();
      } else if (halted !== undefined) {
        throw halted;
      } else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  } finally {
    signal.removeEventListener("abort", onAbort);
    release();
    await reader.close();
  }
}
