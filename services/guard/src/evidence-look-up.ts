import { isEvidenceStored, type Link } from "@candor/bus";
import type { Payload } from "@candor/contract";
import type { EvidenceLookUp, TimerRequest } from "@candor/guards";

/** Pieces that are looked up at a time. */
const width = 8;

/**
 * Looks up what a report points to, so that the log says whether it is there (T2).
 *
 * @returns undefined for a timer that asks for nothing
 * @throws CandorError `server-unreachable` or what else keeps the answer from being known: nothing may be said then
 */
export async function lookUpEvidence(
  link: Link,
  { run, evidence }: TimerRequest,
): Promise<Payload<"timer">["evidence"]> {
  if (evidence === undefined) return undefined;
  const look = async ({ actor, hash, size }: EvidenceLookUp) => ({
    actor,
    hash,
    stored: await isEvidenceStored(link, { actor, run, hash }, size),
  });
  const found: Awaited<ReturnType<typeof look>>[] = [];
  for (let from = 0; from < evidence.length; from += width)
    found.push(...(await Promise.all(evidence.slice(from, from + width).map(look))));
  return found;
}
