import { nuid, type Msg } from "@nats-io/transport-node";
import type { Link } from "./link.js";
import { surfacing } from "./surfacing.js";

/** One subscription for the replies to many requests, without a promise for each. */
export interface ReplyInbox {
  /** Reply subject of a request. */
  readonly subject: (token: number) => string;
  readonly close: () => void;
}

/**
 * Opens one.
 * @param onReply gets the token and the reply
 */
export function openReplyInbox(link: Link, onReply: (token: number, reply: Msg) => void): ReplyInbox {
  const prefix = `${link.inboxPrefix}.${nuid.next()}.`;
  const take = surfacing(onReply);
  const subscription = link.nc.subscribe(`${prefix}*`, {
    callback: (error, message) => {
      if (error === null) take(Number(message.subject.slice(prefix.length)), message);
    },
  });
  return {
    subject: (token) => `${prefix}${token}`,
    close: () => {
      subscription.unsubscribe();
    },
  };
}
