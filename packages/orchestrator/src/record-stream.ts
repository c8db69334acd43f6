import { LaneReader, readStreamState, type Bus } from "@candor/bus";
import { CandorError, equalBytes, streams, type Logger } from "@candor/contract";
import type { StoredRecord } from "./log-client.js";
import { lasting, within } from "./time-limit.js";

/** Longest wait for one record that is there. */
const recordMs = 5_000;
const mostLagMs = 3_000;
/** A server that has refused for so long will go on refusing until somebody does something. */
const refusalPatienceMs = 10_000;

export interface RecordStreamOptions {
  /** Subject filter; the whole stream without one. */
  readonly filter?: string;
  /** Sequence after which to begin. */
  readonly after: number;
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

function rolledBack(sequence: number, found: string): CandorError {
  return new CandorError(
    "log-rolled-back",
    `The verdicts were replaced while they were read: at sequence ${sequence} there is ${found}. Act on no verdict; tell the operator.`,
    { details: { sequence, found } },
  );
}

/** After an interruption, sees that the stream still has what was read of it: a server that was restored re-uses sequences. */
async function requireSame(
  bus: Bus,
  position: number,
  last: StoredRecord | undefined,
  options: RecordStreamOptions,
): Promise<void> {
  const difference = await lasting(async () => {
    const { lastSeq } = await readStreamState(bus, streams.verdicts);
    if (lastSeq < position) return `nothing past ${lastSeq}`;
    if (last?.sequence !== position) return undefined;
    const there = await readRecordAt(bus, position, options.logger);
    return there?.subject === last.subject && equalBytes(there.data, last.data) ? undefined : "another record";
  }, mostLagMs);
  if (difference !== undefined) throw rolledBack(position, difference);
}

/**
 * The record at a sequence of the verdict stream, on whatever subject; undefined if the stream ends before it.
 *
 * @throws CandorError `server-unreachable` if it does not come
 */
export async function readRecordAt(bus: Bus, sequence: number, logger: Logger): Promise<StoredRecord | undefined> {
  const { lastSeq } = await readStreamState(bus, streams.verdicts);
  if (lastSeq < sequence) return undefined;
  return await within(recordMs, async (signal) => {
    for await (const record of readRecords(bus, { after: sequence - 1, signal, logger })) {
      return record.sequence === sequence ? record : undefined;
    }
    throw new CandorError("server-unreachable", `The server did not deliver the record at ${sequence}: try again.`);
  });
}

/**
 * Messages of the verdict stream: first all that are there, then as they come, until the signal. While the caller deals with
 * one, nothing more than a batch is held.
 *
 * @throws CandorError `permission-denied`, `connection-closed` or `log-rolled-back` when reading can't go on, `server-failed`
 *   with the server's number as `errCode` in its details where the server refuses for ten seconds
 */
export async function* readRecords(
  bus: Bus,
  options: RecordStreamOptions,
): AsyncGenerator<StoredRecord, void, undefined> {
  const { filter, after, signal, logger } = options;
  let batch: readonly StoredRecord[] = [];
  let last: StoredRecord | undefined;
  let halted: CandorError | undefined;
  let wake = (): void => undefined;
  let release = (): void => undefined;
  const reader = new LaneReader(bus, {
    stream: streams.verdicts,
    ...(filter === undefined ? {} : { filter }),
    from: after + 1,
    onMessages: (messages) => {
      batch = messages.map(({ seq, subject, data }) => ({ sequence: seq, subject, data: data.slice() }));
      last = batch.at(-1);
      wake();
      return new Promise((resolve) => {
        release = resolve;
      });
    },
    checkBefore: (position) => requireSame(bus, position, last, options),
    onHalt: (error) => {
      halted = error;
      wake();
    },
    refusalPatienceMs,
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
