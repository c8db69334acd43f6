import { createHash } from "node:crypto";
import {
  CandorError,
  decodeEvidenceManifest,
  equalBytes,
  evidenceChunks,
  evidenceLimits,
  evidenceSubject,
  hex,
  type EvidenceAddress,
  type EvidenceManifest,
} from "@candor/contract";
import type { EvidencePort } from "./evidence-port.js";
import { inWindow } from "./window.js";

function missing({ actor, run, hash }: EvidenceAddress, what: string): CandorError {
  return new CandorError(
    "evidence-missing",
    `Evidence ${hex(hash)} of ${actor} in run ${run} is not there: ${what}. It was never stored whole, or its run is over and it was collected.`,
    { details: { actor, run, hash: hex(hash) } },
  );
}

function altered({ actor, run, hash }: EvidenceAddress, what: string): CandorError {
  return new CandorError(
    "evidence-altered",
    `Evidence ${hex(hash)} of ${actor} in run ${run} is not what was stored under that hash: ${what}. Rely on none of it.`,
    { details: { actor, run, hash: hex(hash) } },
  );
}

/**
 * Reads the manifest of a piece of evidence.
 * @throws CandorError `evidence-missing`, `evidence-altered`, `server-unreachable`, `permission-denied`
 */
export async function readEvidenceManifest(port: EvidencePort, at: EvidenceAddress): Promise<EvidenceManifest> {
  const bytes = await port.read(evidenceSubject(at, 0));
  if (bytes === undefined) throw missing(at, "it has no manifest");
  return decodeEvidenceManifest(bytes);
}

/**
 * Reads a piece of evidence chunk by chunk and checks its hash. The last chunk is handed out only once the hash is that
 * of the whole, so that nobody ever holds all of something else. Memory stays at about 1 MiB, whatever the size.
 *
 * @param size in bytes, where the reader knows it; a manifest that says otherwise is refused
 * @throws CandorError `evidence-missing` for a manifest or chunk that is not there; `evidence-altered` for bytes that are
 *   not those under this hash; `server-unreachable`, `permission-denied`
 */
export async function* readEvidence(
  port: EvidencePort,
  at: EvidenceAddress,
  size?: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { size: stated } = await readEvidenceManifest(port, at);
  if (size !== undefined && size !== stated) throw altered(at, `its manifest says ${stated} bytes, not ${size}`);
  const { chunkBytes } = evidenceLimits;
  const chunks = evidenceChunks(stated);
  const hash = createHash("sha256");
  let n = 0;
  let last: Uint8Array | undefined;
  for await (const chunk of inWindow(chunks, (index) => port.read(evidenceSubject(at, index)))) {
    n += 1;
    if (chunk === undefined) throw missing(at, `chunk ${n} of ${chunks} is missing`);
    const due = n < chunks ? chunkBytes : stated - (chunks - 1) * chunkBytes;
    if (chunk.length !== due) throw altered(at, `chunk ${n} has ${chunk.length} bytes instead of ${due}`);
    if (last !== undefined) yield last;
    hash.update(chunk);
    last = chunk;
  }
  if (!equalBytes(hash.digest(), at.hash)) throw altered(at, "its bytes have another SHA-256");
  if (last !== undefined) yield last;
}

/** Like `readEvidence`, as one array. */
export async function readWholeEvidence(port: EvidencePort, at: EvidenceAddress, size?: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of readEvidence(port, at, size)) parts.push(part);
  return new Uint8Array(Buffer.concat(parts));
}
