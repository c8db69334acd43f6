import {
  evidencePort,
  listEvidence,
  Publisher,
  purgeEvidence,
  readEvidenceManifest,
  readLast,
  readStreamState,
  type Link,
} from "@candor/bus";
import {
  encodeBody,
  encodeFrame,
  encodePayload,
  guardActor,
  isCandorError,
  publishedSubject,
  runTask,
  storedSubject,
  streams,
  zeroHash,
  type EvidenceAddress,
  type Payload,
} from "@candor/contract";

export interface CollectedRun {
  readonly run: string;
  readonly lane: number;
  readonly closedAtMs: number;
  /** Estimated log time; shown to people only. */
  readonly nowMs: number;
}

type Item = Payload<"collected">["items"][number];

/** Items of one record: with the longest labels and names it stays under the limit of a message. */
const mostItems = 400;

async function itemOf(link: Link, at: EvidenceAddress): Promise<Item> {
  const { actor, hash } = at;
  try {
    const { size, label } = await readEvidenceManifest(evidencePort(link), at);
    return { actor, hash, size, label };
  } catch (error) {
    if (isCandorError(error, "evidence-altered", "evidence-missing")) return { actor, hash };
    throw error;
  }
}

function recordOf({ run, closedAtMs, nowMs }: CollectedRun, items: readonly Item[]): Uint8Array {
  const payload = encodePayload("collected", { closedAtMs, items: [...items] });
  const header = { kind: "collected", role: "guard", actor: guardActor, seq: 1, prev: zeroHash } as const;
  return encodeFrame(encodeBody({ ...header, run, task: runTask, epoch: 1, at: Math.floor(nowMs), payload }));
}

/**
 * Removes the evidence of one run: first the log gets the record of what goes, then it goes, and nothing that came later.
 * A guard that ends in between leaves the rest to the next look, which may tell the same again.
 *
 * @returns how many pieces went; undefined where another guard is at it
 * @throws CandorError `server-unreachable` and whatever else keeps the record or the removal from being made
 */
export async function collectRun(link: Link, collected: CollectedRun): Promise<number | undefined> {
  const { run, lane } = collected;
  const address = { role: "guard", actor: guardActor, run, task: runTask, kind: "collected" } as const;
  const stored = storedSubject({ ...address, lane });
  const publisher = new Publisher(link);
  try {
    let last = (await readLast(link, streams.log, stored))?.seq ?? 0;
    const below = (await readStreamState(link, streams.evidence)).lastSeq + 1;
    const names = await listEvidence(link, run);
    for (let from = 0; from < names.length; from += mostItems) {
      const items: Item[] = [];
      for (const name of names.slice(from, from + mostItems)) items.push(await itemOf(link, name));
      const outcome = await publisher.publish({
        subject: publishedSubject(address),
        bytes: recordOf(collected, items),
        expect: { sequence: last, subject: stored },
      });
      // Two guards that say the very same: the one that was first goes on.
      if (outcome.type !== "stored" || outcome.repeated === true) return undefined;
      last = outcome.seq;
    }
    await purgeEvidence(link, run, below);
    return names.length;
  } finally {
    publisher.close();
  }
}
