import { setTimeout as pause } from "node:timers/promises";
import type { Msg } from "@nats-io/transport-node";
import { CandorError, type StoredMessage } from "@candor/contract";
import { ask } from "./ask.js";
import { apiRequest, hopeless, refusal } from "./jetstream-api.js";
import { readsFromLeader, type Link } from "./link.js";

const noMessage = 10037;
const patienceMs = 10_000;
const attemptMs = 1_000;

interface ApiMessage {
  readonly subject: string;
  readonly seq: number;
  readonly hdrs?: string;
  readonly data?: string;
  readonly time: string;
}

function fromBase64(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, "base64"));
}

async function fromLeader(link: Link, stream: string, query: object): Promise<StoredMessage | undefined> {
  const request = `${link.apiPrefix}.STREAM.MSG.GET.${stream}`;
  const answer = await apiRequest(link.nc, request, query, patienceMs, attemptMs);
  if (!answer.ok) {
    if (answer.failure.errCode === noMessage) return undefined;
    throw refusal(answer.failure, `read a message of ${stream}`);
  }
  const { subject, seq, hdrs, data = "", time } = answer.body["message"] as ApiMessage;
  return {
    seq,
    timeMs: Date.parse(time),
    subject,
    headers: hdrs === undefined ? undefined : fromBase64(hdrs),
    data: fromBase64(data),
  };
}

/** The message with this sequence, from the stream's leader. For guards and operators. */
export function readAt(link: Link, stream: string, seq: number): Promise<StoredMessage | undefined> {
  return fromLeader(link, stream, { seq });
}

/** The first message on an exact stored subject from `seq` on, from the stream's leader. For guards and operators. */
export function readNext(link: Link, stream: string, subject: string, seq: number): Promise<StoredMessage | undefined> {
  return fromLeader(link, stream, { seq, next_by_subj: subject });
}

/**
 * A message as direct get answers it. Only the last of each header counts: the server appends its own to those of the
 * publisher, who may have written the same names.
 */
function placedMessage({ headers, data }: Msg, copied: boolean): StoredMessage | undefined {
  const last = (name: string): string => headers?.values(name).at(-1) ?? "";
  const seq = Number(last("Nats-Sequence"));
  const timeMs = Date.parse(last("Nats-Time-Stamp"));
  if (seq === 0 || Number.isNaN(seq) || Number.isNaN(timeMs)) return undefined;
  return { seq, timeMs, subject: last("Nats-Subject"), data: copied ? new Uint8Array(data) : data };
}

/**
 * The last message on an exact stored subject, by direct get from whichever replica answers: it may be a moment behind in
 * a cluster, and gives no stored headers.
 *
 * @param copied false for large messages that are dealt with at once: the bytes are then a view of what was received
 * @returns undefined if there is none
 * @throws CandorError `server-unreachable`, `permission-denied`
 */
export async function readDirect(
  link: Link,
  stream: string,
  subject: string,
  copied = true,
): Promise<StoredMessage | undefined> {
  const request = `${link.apiPrefix}.DIRECT.GET.${stream}.${subject}`;
  const deadline = performance.now() + patienceMs;
  let last: unknown;
  while (performance.now() < deadline) {
    try {
      const reply = await ask(link.nc, request, "", attemptMs);
      const found = placedMessage(reply, copied);
      if (found !== undefined) return found;
      if (reply.headers?.code === 404) return undefined;
      last = reply.headers?.status;
    } catch (error) {
      const failure = hopeless(error, request);
      if (failure !== undefined) throw failure;
      last = error;
    }
    await pause(50);
  }
  throw new CandorError(
    "server-unreachable",
    `The server did not answer a look-up of ${subject} within ${patienceMs / 1000} s; the answer is still to be had: try again.`,
    { cause: last },
  );
}

/**
 * The last message on an exact stored subject: from the leader for guards and operators, by direct get for everybody
 * else, which may be a moment behind in a cluster and gives no stored headers.
 *
 * @returns undefined if there is none
 * @throws CandorError `server-unreachable`, `permission-denied`
 */
export function readLast(link: Link, stream: string, subject: string): Promise<StoredMessage | undefined> {
  return readsFromLeader(link)
    ? fromLeader(link, stream, { last_by_subj: subject })
    : readDirect(link, stream, subject);
}

/**
 * Like `readLast`, but waits, up to `patienceMs`, until the last message is past `after`, for a caller who knows that
 * there is one: a replica may not have it yet.
 *
 * @returns what was last at the end of the wait
 */
export async function readLastAfter(
  link: Link,
  stream: string,
  subject: string,
  after: number,
  patience: number,
): Promise<StoredMessage | undefined> {
  const deadline = performance.now() + patience;
  for (let waitMs = 5; ; waitMs = Math.min(waitMs * 2, 100)) {
    const last = await readLast(link, stream, subject);
    if ((last !== undefined && last.seq > after) || performance.now() + waitMs > deadline) return last;
    await pause(waitMs);
  }
}

export interface StreamState {
  readonly messages: number;
  readonly firstSeq: number;
  readonly lastSeq: number;
}

/** First and last sequence of a stream, from its leader. @throws CandorError `server-unreachable`, `not-provisioned` */
export async function readStreamState(link: Link, stream: string): Promise<StreamState> {
  const answer = await apiRequest(link.nc, `${link.apiPrefix}.STREAM.INFO.${stream}`, undefined, patienceMs, attemptMs);
  if (!answer.ok) throw refusal(answer.failure, `describe the stream ${stream}`);
  const { messages, first_seq, last_seq } = answer.body["state"] as Record<string, number>;
  return { messages: messages ?? 0, firstSeq: first_seq ?? 0, lastSeq: last_seq ?? 0 };
}
