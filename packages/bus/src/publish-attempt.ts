import { headers as newHeaders, type MsgHdrs } from "@nats-io/transport-node";
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

/** The headers of a message, or undefined for none. */
export function publishHeaders(
  expect: Expectation | undefined,
  more: Readonly<Record<string, string>> = {},
): MsgHdrs | undefined {
  const all = Object.entries(more);
  if (expect !== undefined) {
    all.push(["Nats-Expected-Last-Subject-Sequence", String(expect.sequence)]);
    if (expect.subject !== undefined) all.push(["Nats-Expected-Last-Subject-Sequence-Subject", expect.subject]);
  }
  if (all.length === 0) return undefined;
  const headers = newHeaders();
  for (const [name, value] of all) headers.append(name, value);
  return headers;
}

interface Waiting {
  readonly subject: string;
  readonly timer: NodeJS.Timeout;
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
    clearTimeout(one.timer);
    one.resolve(answer);
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
        const timer = setTimeout(() => {
          settle(token, { type: "silence", reason: `no answer within ${Math.round(timeoutMs)} ms` });
        }, timeoutMs);
        waiting.set(token, { subject, timer, resolve });
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
      if (!link.nc.isClosed()) inbox.close();
      settleAll({ type: "silence", reason: "the publisher was closed" });
    },
  };
}
