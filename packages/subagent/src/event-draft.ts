import {
  CandorError,
  decodeBody,
  decodeFrame,
  decodePayload,
  encodeBody,
  encodeFrame,
  encodePayload,
  equalBytes,
  eventHash,
  needsSignature,
  requireSize,
  type Tally,
  type AgentKind,
  type EventHeader,
  type Payload,
} from "@candor/contract";
import type { Signer } from "@candor/ledger";
import type { SpooledEvent } from "./spool/spool-content.js";

export interface Recorded {
  readonly seq: number;
  readonly hash: Uint8Array;
}

/** An event that the log is known to have. */
export interface RecordedAt extends Recorded {
  /** Stream sequence. */
  readonly sequence: number;
}

/** An event to record, kind and payload. */
export type EventDraft = { readonly [K in AgentKind]: { readonly kind: K; readonly payload: Payload<K> } }[AgentKind];

/** The chain as it stands when an event gets its number. */
export interface Moment {
  /** Number of the event before. */
  readonly last: number;
  /** Hash of the event before. */
  readonly head: Uint8Array;
  readonly tally: Tally;
}

/** A payload, or how to make it at the moment when the event gets its number. */
export type Build<K extends AgentKind> = Payload<K> | ((moment: Moment) => Payload<K>);

/** An event with its place in the chain, ready to be stored. */
export interface Draft {
  readonly seq: number;
  readonly kind: AgentKind;
  readonly payload: unknown;
  readonly hash: Uint8Array;
  readonly frame: Uint8Array;
}

/**
 * Encodes an event of an agent, signed with the task key where its kind must be.
 *
 * @throws CandorError `malformed` or `unknown-type` with the path of a field that does not fit, `too-large`
 */
export function draftEvent<K extends AgentKind>(
  header: Omit<EventHeader, "kind" | "role">,
  kind: K,
  payload: Payload<K>,
  signer: Signer,
): Draft {
  const body = encodeBody({ ...header, kind, role: "agent", payload: encodePayload(kind, payload) });
  const hash = eventHash(body);
  const frame = encodeFrame(body, needsSignature(kind, payload) ? signer.sign(hash) : undefined);
  requireSize(frame.length);
  return { seq: header.seq, kind, payload, hash, frame };
}

/**
 * An event as the spool has it.
 * @param head hash of the event before it
 * @throws CandorError `spool-lost` if it does not follow that event
 */
export function redraft({ seq, kind, frame }: SpooledEvent, head: Uint8Array): Draft {
  const { body } = decodeFrame(frame);
  const event = decodeBody(body);
  if (event.seq !== seq || !equalBytes(event.prev, head)) {
    throw new CandorError("spool-lost", `Event ${seq} of the spool does not follow the one before it.`);
  }
  return { seq, kind: kind as AgentKind, payload: decodePayload(kind, event.payload), hash: eventHash(body), frame };
}
