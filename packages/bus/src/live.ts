import type { Msg } from "@nats-io/transport-node";

const prefix = "candor.live.";

/** A stored message as it was delivered live. */
export interface LiveMessage {
  /** Subject it is stored under. */
  readonly subject: string;
  readonly stream: string;
  /** Sequence in its stream. */
  readonly sequence: number;
  /** When the server stored it, in ms since 1970. */
  readonly storedAtMs: number;
  readonly data: Uint8Array;
}

/**
 * Reads a message of a live subscription; undefined for one that the server did not republish.
 *
 * A reader of the streams can aim a push consumer at a live subscriber, but the message then still has its stored
 * subject. The server appends its headers to those of the publisher, who may have written the same names, so only the
 * last of each counts.
 */
export function readLive(message: Pick<Msg, "subject" | "headers" | "data">): LiveMessage | undefined {
  const { subject, headers, data } = message;
  if (!subject.startsWith(prefix) || headers === undefined) return undefined;
  const last = (name: string): string => headers.values(name).at(-1) ?? "";
  const stored = `candor.${subject.slice(prefix.length)}`;
  const sequence = Number(last("Nats-Sequence"));
  const storedAtMs = Date.parse(last("Nats-Time-Stamp"));
  if (last("Nats-Subject") !== stored || !Number.isSafeInteger(sequence) || Number.isNaN(storedAtMs)) return undefined;
  return { subject: stored, stream: last("Nats-Stream"), sequence, storedAtMs, data };
}
