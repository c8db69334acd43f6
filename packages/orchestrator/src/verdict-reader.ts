import { CandorError, type Logger } from "@candor/contract";
import type { CheckedVerdict, GuardRecords } from "@candor/ledger";
import type { LogClient, StoredRecord } from "./log-client.js";
import { messageHash, type Memory } from "./memory.js";
import { lasting } from "./time-limit.js";

export interface VerdictEntry extends CheckedVerdict {
  /** Stream sequence in the verdict stream. */
  readonly sequence: number;
  /** Where to go on after this verdict: keep it once the verdict is dealt with. */
  readonly cursor: string;
}

const cursorForm = /^(?<sequence>[1-9]\d{0,15})\.(?<hash>[0-9a-f]{64})$/;

export interface Cursor {
  readonly sequence: number;
  readonly hash: string;
}

export function formatCursor({ sequence, hash }: Cursor): string {
  return `${sequence}.${hash}`;
}

/** @throws CandorError `bad-argument` for a text that is no cursor */
export function parseCursor(text: string): Cursor {
  const { sequence, hash } = cursorForm.exec(text)?.groups ?? {};
  if (sequence !== undefined && hash !== undefined) return { sequence: Number(sequence), hash };
  throw new CandorError(
    "bad-argument",
    "This is no cursor of verdicts(): pass on the cursor of the last verdict that was dealt with, unchanged.",
    { path: "from" },
  );
}

export interface ReaderContext {
  readonly client: LogClient;
  readonly records: GuardRecords;
  readonly memory: Memory;
  readonly logger: Logger;
  /** How long a replica may be behind, in ms; 3,000 by default. */
  readonly lagMs?: number;
}

const mostLagMs = 3_000;

/** Finds the verdict that a cursor names again, so that a reader never goes on in another history. */
async function requirePlace(context: ReaderContext, { sequence, hash }: Cursor, lane: number): Promise<void> {
  const { client, lagMs = mostLagMs } = context;
  const found = await lasting(async () => {
    const there = await client.recordAt(sequence);
    if (there === undefined) return "nothing";
    return messageHash(there.subject, there.data) === hash ? undefined : "another message";
  }, lagMs);
  if (found === undefined) return;
  throw new CandorError(
    "log-rolled-back",
    `The verdicts are older than what this reader has seen of them: at sequence ${sequence} in lane ${lane} there is ${found}. Act on no verdict; tell the operator.`,
    { details: { lane, sequence, remembered: hash, found } },
  );
}

/**
 * The verdicts of a run, each once, in order: first all that are there after `from`, then as they come, until the
 * signal. One that no guard of this operator signed is logged and passed over, never acted upon.
 *
 * @throws CandorError `bad-argument` for a cursor of another kind, `log-rolled-back` if the verdict it names is gone
 */
export async function* readVerdicts(
  context: ReaderContext,
  at: { readonly lane: number; readonly run: string },
  options: { readonly from?: string; readonly signal?: AbortSignal },
): AsyncGenerator<VerdictEntry, void, undefined> {
  const { from, signal = new AbortController().signal } = options;
  const subject = `candor.vd.${at.lane}.${at.run}.>`;
  const cursor = from === undefined ? undefined : parseCursor(from);
  if (cursor !== undefined) await requirePlace(context, cursor, at.lane);
  for await (const record of context.client.records(subject, { after: cursor?.sequence ?? 0, signal })) {
    const checked = checkedVerdict(context, record);
    if (checked === undefined) continue;
    const seen = { sequence: record.sequence, hash: messageHash(record.subject, record.data) };
    context.memory.sawVerdict({ ...seen, subject: record.subject });
    yield { ...checked, sequence: record.sequence, cursor: formatCursor(seen) };
  }
}

function checkedVerdict({ records, logger }: ReaderContext, record: StoredRecord): CheckedVerdict | undefined {
  try {
    return records.verdict(record.subject, record.data);
  } catch (error) {
    logger.warn({ err: error, sequence: record.sequence }, "a verdict that can't be verified was passed over");
    return undefined;
  }
}
