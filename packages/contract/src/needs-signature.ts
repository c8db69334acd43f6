import type { Payload } from "./payloads/index.js";
import { kindTable, type EventKind } from "./vocabulary.js";

/**
 * Whether an event must carry a signature of its own: its kind says so, or it is a hop, which others point to and which
 * must hold whatever becomes of the rest of its chain (F8).
 */
export function needsSignature(kind: EventKind, payload: unknown): boolean {
  return kindTable[kind].signed || (kind === "error" && (payload as Payload<"error">).hop !== undefined);
}
