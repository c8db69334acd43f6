import { streams, type LogEntry, type Logger, type StoredMessage } from "@candor/contract";
import { LaneReader, type Link } from "@candor/bus";
import { neededTasks, type HistoryNeed } from "@candor/guards";
import { admit } from "@candor/ledger";
import { setTimeout as pause } from "node:timers/promises";
import { asLogFault } from "./log-place.js";
import { isPassing } from "./passing-trouble.js";

/** Messages under one filter below a sequence; what was read so far when the signal ends it. */
async function readBelow(link: Link, filter: string, belowSeq: number, signal: AbortSignal): Promise<StoredMessage[]> {
  const found: StoredMessage[] = [];
  // The signal lives as long as the guard: what is left on it holds this history for as long.
  const ended = new AbortController();
  try {
    await new Promise<void>((resolve, reject) => {
      const finish = (): void => {
        resolve();
      };
      const reader = new LaneReader(link, {
        stream: streams.log,
        filter,
        maxOutstanding: 256,
        onMessages: (batch) => {
          const below = batch.filter(({ seq }) => seq < belowSeq);
          // Copies: a view would hold the whole piece that the message arrived in.
          for (const message of below) found.push({ ...message, data: message.data.slice() });
          if (below.length < batch.length) finish();
        },
        onHalt: reject,
      });
      ended.signal.addEventListener("abort", () => void reader.close(), { once: true });
      signal.addEventListener("abort", finish, { once: true, signal: ended.signal });
      reader.start();
      reader.caughtUp().then(finish, () => undefined);
    });
    return found;
  } finally {
    ended.abort();
  }
}

export interface HistoryReaderOptions {
  readonly link: Link;
  readonly lane: number;
  /** Ends a read for good. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

/**
 * Reads the entries of a run itself and of one of its tasks (or all of the run) below a sequence, in log order. It tries until the server
 * answers, since the lane can't go on without them.
 *
 * @throws CandorError `log-truncated` where the server counts a message and does not hand it out
 */
export async function readHistory(
  { link, lane, signal, logger }: HistoryReaderOptions,
  need: HistoryNeed,
  belowSeq: number,
): Promise<readonly LogEntry[]> {
  const { run, task } = need;
  for (;;) {
    try {
      const parts = neededTasks(need).map((part) =>
        readBelow(link, `candor.log.${lane}.${run}.${part}.>`, belowSeq, signal),
      );
      const messages = (await Promise.all(parts)).flat();
      return messages.sort((a, b) => a.seq - b.seq).map(admit);
    } catch (error) {
      if (signal.aborted || !isPassing(error)) throw asLogFault(lane, error);
      logger.warn({ lane, run, task, code: error.code }, `a closed task can't be read again yet: ${error.message}`);
      await pause(500, undefined, { signal });
    }
  }
}
