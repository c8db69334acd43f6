import type { Msg } from "@nats-io/transport-node";

/** Fields of the client's message class that it does not publish. The lane reader's tests hold the client to them. */
interface ClientMessage {
  readonly _msg: { readonly reply?: Uint8Array; readonly hdr: number };
  readonly _rdata: Uint8Array;
}

function inner(message: Msg): ClientMessage {
  return message as unknown as ClientMessage;
}

/**
 * The header block as received, which decoding and encoding again may not reproduce. A view.
 * @returns undefined for a message without headers
 */
export function headerBytes(message: Msg): Uint8Array | undefined {
  const { _msg, _rdata } = inner(message);
  return _msg.hdr > 0 ? _rdata.subarray(0, _msg.hdr) : undefined;
}

/** Reply subject as received, undecoded; undefined for a message without one. */
export function replyBytes(message: Msg): Uint8Array | undefined {
  const { reply } = inner(message)._msg;
  return reply === undefined || reply.length === 0 ? undefined : reply;
}
