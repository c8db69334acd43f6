import {
  encodeBody,
  encodeFrame,
  encodePayload,
  eventHash,
  requireSize,
  type EventBody,
  type IntentKind,
  type Payload,
} from "@candor/contract";
import type { Signer } from "@candor/ledger";
import type { Position } from "./task-line.js";

export interface IntentDraft<K extends IntentKind> {
  readonly kind: K;
  readonly run: string;
  readonly task: string;
  readonly epoch: number;
  /** Name that all replicas of the orchestrator share. */
  readonly fleet: string;
  readonly position: Position;
  /** The author's clock in ms. Shown to people; no verdict depends on it. */
  readonly atMs: number;
  readonly payload: Payload<K>;
}

export interface SignedIntent {
  readonly event: EventBody;
  readonly hash: Uint8Array;
  /** The bytes to publish. */
  readonly frame: Uint8Array;
}

/**
 * Encodes and signs an intent.
 *
 * @throws CandorError `malformed` with the path of a payload field that does not fit, `too-large` over 256 KiB
 */
export function signIntent<K extends IntentKind>(draft: IntentDraft<K>, signer: Signer): SignedIntent {
  const { kind, run, task, epoch, fleet, position, atMs } = draft;
  const event: EventBody = {
    kind,
    run,
    task,
    epoch,
    role: "orch",
    actor: fleet,
    seq: position.control,
    prev: position.prev,
    at: atMs,
    payload: encodePayload(kind, draft.payload),
  };
  const body = encodeBody(event);
  const hash = eventHash(body);
  const frame = encodeFrame(body, signer.sign(hash));
  requireSize(frame.length);
  return { event, hash, frame };
}
