import { CandorError, equalBytes, isCandorError, streams, type ErrorCode } from "@candor/contract";
import { apiRequest, readAt, type Link } from "@candor/bus";
import { leafHash } from "@candor/ledger";

/** A message of the log that this guard is sure of. */
export interface LogPlace {
  /** Stream sequence. */
  readonly seq: number;
  /** Log timestamp in ms. */
  readonly timeMs: number;
  /** Leaf hash, 32 bytes. */
  readonly leaf: Uint8Array;
}

type LogFault = Extract<ErrorCode, "log-rolled-back" | "log-truncated" | "log-altered">;

const advice = "This lane publishes no more verdicts. Keep the data folder as it is and ask the operator.";

/** The error for a log that is not the one it was. */
export function logFault(code: LogFault, lane: number, seq: number, what: string): CandorError {
  return new CandorError(code, `Lane ${lane}, sequence ${seq}: ${what} ${advice}`, { details: { lane, seq } });
}

/** A reader's word that the log can't be read on, as the lane's own fault; anything else as it is. */
export function asLogFault(lane: number, error: unknown): unknown {
  if (!isCandorError(error, "log-truncated")) return error;
  const { seq } = error.details;
  if (typeof seq !== "number") return error;
  return logFault("log-truncated", lane, seq, "the server counts this message and does not hand it out.");
}

export interface LogState {
  readonly lastSeq: number;
  /** The server's own time in ms. */
  readonly serverMs: number;
}

/** Where the log ends, from its leader. @throws CandorError `server-unreachable`, `not-provisioned` */
export async function readLogState({ nc, apiPrefix }: Link): Promise<LogState> {
  const answer = await apiRequest(nc, `${apiPrefix}.STREAM.INFO.${streams.log}`);
  if (!answer.ok) {
    const why = `The server can't describe the stream ${streams.log}: ${answer.failure.description}.`;
    throw new CandorError("not-provisioned", `${why} Run "candor streams apply".`);
  }
  const { last_seq: lastSeq } = answer.body["state"] as Readonly<Record<string, number>>;
  return { lastSeq: lastSeq ?? 0, serverMs: Date.parse(String(answer.body["ts"])) };
}

/**
 * Checks that the log still holds the message at a known place, asking the stream's leader. After a rollback the server
 * uses sequence numbers again, and a reader would pass over the new events without a word (B9).
 *
 * @throws CandorError `log-rolled-back`, `log-truncated` or `log-altered`
 */
export async function requirePlace(link: Link, lane: number, place: LogPlace, lastSeq: number): Promise<void> {
  const { seq, timeMs, leaf } = place;
  if (lastSeq < seq) {
    throw logFault("log-rolled-back", lane, seq, `the log ends at ${lastSeq}, before what was read from it already.`);
  }
  const found = await readAt(link, streams.log, seq);
  if (found === undefined) throw logFault("log-truncated", lane, seq, "the message was removed from the log.");
  if (equalBytes(leafHash(found), leaf)) return;
  if (found.timeMs === timeMs) throw logFault("log-altered", lane, seq, "the message was changed after it was stored.");
  const what = "another message stands where one was read before: the log was restored from an older copy and went on.";
  throw logFault("log-rolled-back", lane, seq, what);
}
