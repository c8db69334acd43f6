/** What the server says about a message that it delivers from a consumer. */
export interface Delivery {
  readonly seq: number;
  readonly consumerSeq: number;
  /** Log timestamp in whole ms. */
  readonly timeMs: number;
  /** Messages for this consumer that were not yet delivered. */
  readonly pending: number;
}

const dot = 46;
const zero = 48;
/** Digits of a nanosecond timestamp that are below a millisecond. */
const belowMs = 6;

/**
 * Length of a delivery subject up to its numbers, `$JS.ACK.[domain.account.]stream.consumer.`; the same for all
 * messages of one consumer. 0 if the subject is no delivery of this consumer.
 */
export function deliveryPrefixLength(subject: Uint8Array, stream: string, consumer: string): number {
  const text = Buffer.from(subject.buffer, subject.byteOffset, subject.length).toString("latin1");
  if (!text.startsWith("$JS.ACK.")) return 0;
  const part = `.${stream}.${consumer}.`;
  const at = text.indexOf(part);
  return at < 0 ? 0 : at + part.length;
}

/**
 * Reads `deliveries.streamSequence.consumerSequence.timestamp.pending` from its place in the bytes of a delivery
 * subject: decoding and splitting the text costs more than the rest of reading a message.
 */
export function readDelivery(subject: Uint8Array, prefixLength: number): Delivery {
  const { length } = subject;
  let at = subject.indexOf(dot, prefixLength) + 1;
  let seq = 0;
  for (; at < length && subject[at] !== dot; at += 1) seq = seq * 10 + (subject[at] as number) - zero;
  let consumerSeq = 0;
  for (at += 1; at < length && subject[at] !== dot; at += 1)
    consumerSeq = consumerSeq * 10 + (subject[at] as number) - zero;
  const timeEnd = subject.indexOf(dot, at + 1);
  let timeMs = 0;
  for (at += 1; at < timeEnd - belowMs; at += 1) timeMs = timeMs * 10 + (subject[at] as number) - zero;
  let pending = 0;
  for (at = timeEnd + 1; at < length && subject[at] !== dot; at += 1)
    pending = pending * 10 + (subject[at] as number) - zero;
  return { seq, consumerSeq, timeMs, pending };
}
