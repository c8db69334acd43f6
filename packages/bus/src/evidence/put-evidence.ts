import {
  CandorError,
  decodeEvidenceManifest,
  encodeEvidenceManifest,
  evidenceChunks,
  evidenceSubject,
  hex,
  type EvidenceAddress,
} from "@candor/contract";
import type { EvidencePort } from "./evidence-port.js";
import type { EvidenceSource } from "./evidence-source.js";
import { inWindow } from "./window.js";

/** A piece of evidence that is stored. */
export interface StoredEvidence extends EvidenceAddress {
  /** In bytes. */
  readonly size: number;
}

function occupied({ hash }: EvidenceAddress, what: string): CandorError {
  return new CandorError(
    "evidence-altered",
    `The store holds other bytes than those of evidence ${hex(hash)} in the place of ${what}, and nothing there is ever overwritten. Tell the operator.`,
    { details: { hash: hex(hash) } },
  );
}

/**
 * Stores a piece of evidence: its manifest, then its chunks. All of it is stored when this resolves. Storing the same
 * bytes again changes nothing and succeeds, so that what was interrupted can be repeated; the label is that of the first.
 *
 * @param label one line for people, sealed
 * @throws CandorError `evidence-altered` where something else is stored in its place; `publish-unconfirmed`,
 *   `server-unreachable` or `store-full` where it may be tried again; `permission-denied`, `server-failed`
 */
export async function putEvidence(
  port: EvidencePort,
  { actor, run }: Omit<EvidenceAddress, "hash">,
  source: EvidenceSource,
  label: Uint8Array,
): Promise<StoredEvidence> {
  const { hash, size } = source;
  const at = { actor, run, hash };
  const there = await port.store(evidenceSubject(at, 0), encodeEvidenceManifest({ version: 1, size, label }));
  // The label is sealed under a nonce of its own, so a second manifest of the same evidence has other bytes.
  if (there !== undefined && decodeEvidenceManifest(there).size !== size) throw occupied(at, "its manifest");
  let n = 0;
  const store = async (index: number): Promise<Uint8Array | undefined> => {
    const chunk = await source.chunk(index);
    const there = await port.store(evidenceSubject(at, index), chunk);
    // Only one that is stored: the bytes of another may still be on their way.
    source.giveBack(chunk);
    return there;
  };
  for await (const other of inWindow(evidenceChunks(size), store)) {
    n += 1;
    if (other !== undefined) throw occupied(at, `chunk ${n}`);
  }
  return { ...at, size };
}
