import { MsgHdrsImpl, type MsgHdrs } from "@nats-io/transport-node";
import { CandorError } from "@candor/contract";
import { isConnected, watchConnection } from "./connection-watch.js";
import type { Link } from "./link.js";
import { readAnswer, type PublishAnswer } from "./publish-answer.js";
import { openReplyInbox, type ReplyInbox } from "./reply-inbox.js";

/** What the server must find last on a subject for it to store a message. */
export interface Expectation {
  /** Sequence of the last message on the subject, 0 for none. */
  readonly sequence: number;
  /** Exact stored subject; the message's own by default, which only fits where it is stored as it is published. */
  readonly subject?: string;
}

export interface PublishedMessage {
  readonly subject: string;
  readonly bytes: Uint8Array;
  readonly headers?: MsgHdrs | undefined;
}

/** A header's value, which is one line. */
function line(text: string): string[] {
  if (!/[\r\n]/.test(text)) return [text];
  throw new CandorError("bad-argument", "What a publish expects must name a subject, which is one line.", {
    path: "expect.subject",
  });
}

/**
 * The headers of a message, or undefined for none.
 * @throws CandorError `bad-argument` for an expectation that names no subject
 */
export function publishHeaders(
  expect: Expectation | undefined,
  more: Readonly<Record<string, string>> | undefined,
): MsgHdrs | undefined {
  const others = Object.entries(more ?? {});
  if (expect === undefined && others.length === 0) return undefined;
  // Names as they are: to look for others in a different case, as `append` does, costs more than all the rest.
  const headers = MsgHdrsImpl.fromRecord({
    ...(expect === undefined ? {} : { "Nats-Expected-Last-Subject-Sequence": [String(expect.sequence)] }),
    ...(expect?.subject === undefined ? {} : { "Nats-Expected-Last-Subject-Sequence-Subject": line(expect.subject) }),
  });
  for (const [name, value] of others) headers.append(name, value);
  return headers;
}

interface Waiting {
  readonly subject: string;
  /** On the clock of `performance.now()`. */
  readonly deadline: number;
  readonly timeoutMs: number;
  readonly resolve: (answer: PublishAnswer) => void;
}

/** Publishes single messages and waits for what comes of each attempt. */
export interface Attempts {
  readonly attempt: (message: PublishedMessage, timeoutMs: number) => Promise<PublishAnswer>;
  readonly close: () => void;
}

/** What the client itself says when it won't send a message. */
function unsendable(error: unknown): PublishAnswer {
  const reason = error instanceof Error ? error.message : String(error);
  return { type: "refused", code: reason.includes("max_payload") ? "too-large" : "connection-closed", reason };
}

export function openAttempts(link: Link): Attempts {
  const waiting = new Map<number, Waiting>();
  let lastToken = 0;
  const settle = (token: number, answer: PublishAnswer): void => {
    const one = waiting.get(token);
    if (one === undefined) return;
    waiting.delete(token);
    one.resolve(answer);
  };
  // One timer for all, and left to run when what it was set for is answered: almost all are, long before.
  let sweepAt = Number.POSITIVE_INFINITY;
  let sweep: NodeJS.Timeout | undefined;
  const sweepBy = (deadline: number): void => {
    if (deadline >= sweepAt) return;
    clearTimeout(sweep);
    sweepAt = deadline;
    sweep = setTimeout(giveUp, Math.max(0, deadline - performance.now())).unref();
  };
  const giveUp = (): void => {
    sweepAt = Number.POSITIVE_INFINITY;
    // A timer may fire within the millisecond before its time.
    const now = performance.now() + 1;
    let next = Number.POSITIVE_INFINITY;
    for (const [token, { deadline, timeoutMs }] of waiting) {
      if (deadline <= now) settle(token, { type: "silence", reason: `no answer within ${Math.round(timeoutMs)} ms` });
      else next = Math.min(next, deadline);
    }
    sweepBy(next);
  };
  const settleAll = (answer: PublishAnswer): void => {
    for (const token of [...waiting.keys()]) settle(token, answer);
  };
  const inbox: ReplyInbox = openReplyInbox(link, (token, reply) => {
    settle(token, readAnswer(reply));
  });
  const stop = watchConnection(link.nc, {
    disconnected: () => {
      settleAll({ type: "silence", reason: "the connection was interrupted" });
    },
    closed: () => {
      settleAll({ type: "silence", reason: "the connection was closed" });
    },
    refused: (subject) => {
      for (const [token, one] of waiting) {
        if (one.subject !== subject) continue;
        settle(token, { type: "refused", code: "permission-denied", reason: "no permission to publish it" });
        return;
      }
    },
  });
  return {
    attempt: ({ subject, bytes, headers }, timeoutMs) => {
      if (link.nc.isClosed()) return Promise.resolve(unsendable("the connection is closed"));
      if (!isConnected(link.nc)) {
        return Promise.resolve({ type: "later", code: "server-unreachable", reason: "not connected" });
      }
      return new Promise((resolve) => {
        const token = (lastToken += 1);
        const deadline = performance.now() + timeoutMs;
        waiting.set(token, { subject, deadline, timeoutMs, resolve });
        sweepBy(deadline);
        try {
          const reply = inbox.subject(token);
          link.nc.publish(subject, bytes, headers === undefined ? { reply } : { reply, headers });
        } catch (error) {
          settle(token, unsendable(error));
        }
      });
    },
    close: () => {
      stop();
      clearTimeout(sweep);
      if (!link.nc.isClosed()) inbox.close();
      settleAll({ type: "silence", reason: "the publisher was closed" });
    },
  };
}
