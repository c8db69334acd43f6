import { CandorError, decodeBody, decodeFrame, equalBytes, storedSubject, type AgentKind } from "@candor/contract";
import type { ChainPlace } from "./chain.js";
import type { LookUp, Stored } from "./ports.js";
import type { SpoolContent, SpooledEvent } from "./spool/spool-content.js";

/** The last message of each kind of one agent's events of a task, whatever their epoch. */
export type LastOfKinds = ReadonlyMap<AgentKind, Stored>;

const kinds = ["accept", "error", "retry", "effect", "acknowledge", "no-side-effects", "receipt", "report"] as const;

/** @throws CandorError `server-unreachable` */
export async function lastOfKinds(bus: LookUp, { lane, run, task, actor }: ChainPlace): Promise<LastOfKinds> {
  const found = await Promise.all(
    kinds.map((kind) => bus.last("log", storedSubject({ lane, role: "agent", actor, run, task, kind }))),
  );
  return new Map(kinds.flatMap((kind, i) => (found[i] === undefined ? [] : [[kind, found[i]] as const])));
}

/**
 * Compares what the spool remembers of an epoch with the log (B9): the acceptance is where it was, and the log holds no
 * event that the spool does not have. An event that was marked as stored before the last interruptions and is still the
 * last of its kind where it was proves that the log goes so far at least; what was marked behind all of those is lost,
 * or may be. Too much is no harm: sent again it is a duplicate.
 *
 * @param content read after the look-up, so that it has all that the log can have
 * @returns stream sequence up to which the log is certainly the one that was written to
 * @throws CandorError `log-rolled-back` with lane and sequence if the acceptance is gone, so that nothing can follow;
 *   `spool-lost` if the spool is an old copy
 */
export function safeSequence(place: ChainPlace, content: SpoolContent, last: LastOfKinds): number {
  const [accept] = content.events;
  if (accept?.sequence !== undefined && (last.get("accept")?.sequence ?? 0) < accept.sequence) {
    throw rolledBack(place.lane, accept.sequence);
  }
  let safe = 0;
  for (const stored of last.values()) {
    const own = ownEvent(place, content.events, stored);
    if (own?.sequence !== stored.sequence || own.interruptions > content.compared) continue;
    safe = Math.max(safe, stored.sequence);
  }
  return safe;
}

/** Undefined for an event of another epoch. @throws CandorError `spool-lost` */
function ownEvent({ epoch }: ChainPlace, events: readonly SpooledEvent[], stored: Stored): SpooledEvent | undefined {
  const found = decodeBody(decodeFrame(stored.data).body);
  if (found.epoch !== epoch) return undefined;
  const own = events[found.seq - 1];
  if (own !== undefined && equalBytes(own.frame, stored.data)) return own;
  throw new CandorError(
    "spool-lost",
    `The log holds event ${found.seq} of this task, and the spool does not: it is an old copy. Ask the orchestrator to delegate the task again.`,
  );
}

function rolledBack(lane: number, sequence: number): CandorError {
  return new CandorError(
    "log-rolled-back",
    `Lane ${lane} of the log no longer has the acceptance that it stored at sequence ${sequence}: it was rolled back. Stop and tell the operator.`,
    { details: { lane, sequence } },
  );
}
