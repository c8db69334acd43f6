import type { NatsConnection } from "@nats-io/transport-node";

/** What moving messages needs of a connection. A `Bus` is one. */
export interface Link {
  readonly nc: NatsConnection;
  /** Prefix of JetStream requests, `$JS.API` or what the account imports them under. */
  readonly apiPrefix: string;
  /** Prefix under which this identity may subscribe. */
  readonly inboxPrefix: string;
}

/** True for a role that reads from the stream's leader; others look up by direct get, which may lag behind. */
export function readsFromLeader(link: Link): boolean {
  return link.apiPrefix === "$JS.API";
}
