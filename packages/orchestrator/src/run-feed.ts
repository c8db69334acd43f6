import { setTimeout as pause } from "node:timers/promises";
import { isCandorError, type Logger } from "@candor/contract";
import type { GuardRecords } from "./guard-records.js";
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
  const { client, lane, run, fleet, logger } = context;
  const subjects = [`candor.vd.${lane}.${run}.>`, `candor.quarantine.${lane}.${fleet}.*`];
  let after = 0;
  while (!signal.aborted) {
    try {
      for await (const record of client.records(subjects, { after, signal })) {
        take(context, record);
        after = record.sequence;
      }
    } catch (error) {
      logger.error({ err: error, run }, "the verdicts of the run can't be read; trying again");
    }
    await pause(retryMs, undefined, { signal, ref: false }).catch(() => undefined);
  }
}
