import { equalBytes, hex, type AdmittedOf, type ReportedEvidence } from "@candor/contract";
import type { FindingList } from "./judgement.js";
import { none } from "./kept.js";
import type { EvidenceLookUp } from "./output.js";

/** A piece of evidence that a report points to, and whether a guard found it stored; undefined until one has looked. */
export interface EvidencePointer extends EvidenceLookUp {
  stored: boolean | undefined;
}

/** The pieces that a report points to, each once. Copies: what is kept must not hold the message it came in. */
export function pointersOf(reported: readonly ReportedEvidence[]): readonly EvidencePointer[] {
  const pointers: EvidencePointer[] = [];
  for (const { actor, hash, size } of reported) {
    if (!pointers.some((known) => isSame(known, { actor, hash, size })))
      pointers.push({ actor, hash: Uint8Array.from(hash), size, stored: undefined });
  }
  return pointers.length === 0 ? none : pointers;
}

/** What is yet to be looked up. */
export function openPointers(pointers: readonly EvidencePointer[]): readonly EvidenceLookUp[] {
  const open = pointers.filter(({ stored }) => stored === undefined);
  return open.map(({ actor, hash, size }) => ({ actor, hash, size }));
}

/** Takes what a guard found. The first word on a piece counts: what was stored may be collected later. */
export function foldFound(
  pointers: readonly EvidencePointer[],
  found: Readonly<NonNullable<AdmittedOf<"timer">["payload"]["evidence"]>>,
): void {
  for (const { actor, hash, stored } of found) {
    for (const pointer of pointers) {
      if (pointer.actor === actor && equalBytes(pointer.hash, hash)) pointer.stored ??= stored;
    }
  }
}

/** A pointer without a body (T2). */
export function pointerFindings(pointers: readonly EvidencePointer[], findings: FindingList): void {
  for (const { actor, hash, stored } of pointers)
    if (stored === false) findings.add("dangling-evidence", `${actor}/${hex(hash)}`);
}

function isSame(a: EvidenceLookUp, b: EvidenceLookUp): boolean {
  return a.actor === b.actor && a.size === b.size && equalBytes(a.hash, b.hash);
}
