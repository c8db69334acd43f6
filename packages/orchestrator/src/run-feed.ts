import { setTimeout as pause } from "node:timers/promises";
import { isCandorError, type Logger } from "@candor/contract";
import type { GuardRecords } from "@candor/ledger";
import type { LogClient, StoredRecord } from "./log-client.js";
import { messageHash, type Memory } from "./memory.js";
import type { RunView } from "./run-view.js";

const retryMs = 1_000;

export interface FeedContext {
  readonly client: LogClient;
  readonly records: GuardRecords;
  readonly memory: Memory;
  readonly logger: Logger;
  readonly view: RunView;
  readonly fleet: string;
  readonly run: string;
  readonly lane: number;
  /** Called after each record, so that a checkpoint is remembered now and then. */
  readonly onRecord: () => void;
}

/** Takes one record of a guard into the view. One that can't be verified is logged, and changes nothing. */
function take(context: FeedContext, { sequence, subject, data }: StoredRecord): void {
  const { records, memory, logger, view, onRecord } = context;
  try {
    if (subject.startsWith("candor.quarantine.")) view.quarantine(records.quarantine(subject, data));
    else view.verdict(records.verdict(subject, data).verdict);
  } catch (error) {
    if (!isCandorError(error)) throw error;
    logger.warn({ err: error, sequence }, "a record that can't be verified was passed over");
    return;
  }
  memory.sawVerdict({ sequence, subject, hash: messageHash(subject, data) });
  onRecord();
}

/** Follows what guards say of a run, and of this fleet's messages on its lane, until the signal. */
export async function followRun(context: FeedContext, signal: AbortSignal): Promise<void> {
  const { lane, run, fleet } = context;
  await Promise.all([
    follow(context, `candor.vd.${lane}.${run}.>`, signal),
    follow(context, `candor.quarantine.${lane}.${fleet}.*`, signal),
  ]);
}

async function follow(context: FeedContext, filter: string, signal: AbortSignal): Promise<void> {
  const { client, logger, view } = context;
  let after = 0;
  while (!signal.aborted) {
    try {
      for await (const record of client.records(filter, { after, signal })) {
        take(context, record);
        after = record.sequence;
      }
    } catch (error) {
      // Whoever closes the connection ends the feed with it.
      if (isCandorError(error, "connection-closed")) return;
      if (isCandorError(error, "log-rolled-back")) {
        logger.error({ err: error, filter }, "the guards' records were replaced");
        view.fail(error);
        return;
      }
      logger.error({ err: error, filter }, "the guards' records can't be read; trying again");
    }
    await pause(retryMs, undefined, { signal, ref: false }).catch(() => undefined);
  }
}
