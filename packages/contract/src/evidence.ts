import { z } from "zod";
import { hex } from "./bytes.js";
import { CandorError } from "./errors.js";
import { count, hash32, id, isId, sealed } from "./identifiers.js";
import { decodeValue, encodeCanonical } from "./msgpack.js";

/** Limits of evidence (T2). */
export const evidenceLimits = {
  /** Size of one piece of evidence, in bytes. */
  maxBytes: 64 * 1024 * 1024,
  /** Bytes of a chunk; only the last one may be shorter. */
  chunkBytes: 128 * 1024,
  /** Pieces that one report refers to. */
  maxHandles: 128,
  /** Bytes of a label in UTF-8: one line for people. */
  maxLabelBytes: 200,
} as const;

/** Where a piece of evidence lies: who stored it, in which run, and the SHA-256 of its bytes. */
export interface EvidenceAddress {
  readonly actor: string;
  readonly run: string;
  /** 32 bytes. */
  readonly hash: Uint8Array;
}

/** A piece of evidence that a report points to (T2). Its bytes lie in the evidence stream. */
export const reportedEvidence = z.strictObject({
  actor: id,
  hash: hash32,
  size: count.max(evidenceLimits.maxBytes),
  /** One line for people. */
  label: sealed,
});
export type ReportedEvidence = z.infer<typeof reportedEvidence>;

/** Chunks that so many bytes of evidence are cut into. */
export function evidenceChunks(size: number): number {
  return Math.ceil(size / evidenceLimits.chunkBytes);
}

/** @param n 0 for the manifest, 1, 2, … for the chunks. @throws CandorError `bad-argument` for an invalid token */
export function evidenceSubject({ actor, run, hash }: EvidenceAddress, n: number): string {
  if (!isId(actor) || !isId(run) || hash.length !== 32) {
    throw new CandorError("bad-argument", "Evidence is named by the ids of actor and run and a SHA-256 of 32 bytes.", {
      path: "evidence",
    });
  }
  return `candor.evidence.${actor}.${run}.${hex(hash)}.${n}`;
}

/** Reads a subject of the evidence stream; undefined if it has another shape. */
export function parseEvidenceSubject(subject: string): (EvidenceAddress & { readonly n: number }) | undefined {
  const [candor, evidence, actor = "", run = "", hash = "", n = "", ...rest] = subject.split(".");
  if (candor !== "candor" || evidence !== "evidence" || rest.length > 0) return undefined;
  if (!isId(actor) || !isId(run) || !hashForm.test(hash) || !/^(?:0|[1-9]\d{0,5})$/.test(n)) return undefined;
  return { actor, run, hash: bytesOfHex(hash), n: Number(n) };
}

const hashForm = /^[0-9a-f]{64}$/;

function bytesOfHex(text: string): Uint8Array {
  return Uint8Array.from({ length: text.length / 2 }, (_, i) => Number.parseInt(text.slice(2 * i, 2 * i + 2), 16));
}

/** What stands for a piece of evidence wherever it is spoken of: its bytes are read by an explicit call. */
export interface EvidenceHandle {
  readonly run: string;
  /** Who stored it. */
  readonly actor: string;
  /** SHA-256 of its bytes, 64 hexadecimal digits in lower case. */
  readonly sha256: string;
  /** In bytes. */
  readonly size: number;
  /** One line for people. */
  readonly label: string;
}

const handleChecks: Readonly<Record<keyof EvidenceHandle, (value: unknown) => boolean>> = {
  run: (value) => typeof value === "string" && isId(value),
  actor: (value) => typeof value === "string" && isId(value),
  sha256: (value) => typeof value === "string" && hashForm.test(value),
  size: (value) => Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= evidenceLimits.maxBytes,
  label: (value) => typeof value === "string",
};

/**
 * Where the evidence of a handle lies. Handles come from other processes, so everything in one is checked.
 *
 * @param run whose evidence is meant: a handle of another is refused
 * @throws CandorError `bad-argument` with the path of the field that does not fit, like `handle.sha256`
 */
export function evidenceAddress(handle: EvidenceHandle, run: string): EvidenceAddress & { readonly size: number } {
  const fields = (typeof handle === "object" ? handle : null) as Readonly<Record<string, unknown>> | null;
  for (const [field, fits] of Object.entries(handleChecks)) {
    if (fields !== null && fits(fields[field])) continue;
    throw new CandorError("bad-argument", `This is no handle of evidence: its ${field} does not fit.`, {
      path: `handle.${field}`,
    });
  }
  if (handle.run !== run) {
    throw new CandorError(
      "bad-argument",
      `This handle is of run ${handle.run}, and evidence is read within its own run, ${run}.`,
      { path: "handle.run" },
    );
  }
  return { actor: handle.actor, run, hash: bytesOfHex(handle.sha256), size: handle.size };
}

/** What the first message of a piece of evidence says, stored before its chunks. */
const manifest = z.strictObject({
  version: z.literal(1),
  size: count.max(evidenceLimits.maxBytes),
  /** One line for people, sealed under the run's data key. */
  label: sealed,
});
export type EvidenceManifest = z.infer<typeof manifest>;

export function encodeEvidenceManifest(value: EvidenceManifest): Uint8Array {
  return encodeCanonical(value);
}

/** Reads a manifest. @throws CandorError `evidence-altered` for bytes that are none */
export function decodeEvidenceManifest(bytes: Uint8Array): EvidenceManifest {
  let value: unknown;
  try {
    value = decodeValue(bytes);
  } catch {
    value = undefined;
  }
  const checked = manifest.safeParse(value);
  if (checked.success) return checked.data;
  throw new CandorError("evidence-altered", "What stands in the place of a manifest of evidence is none.", {
    path: ["manifest", ...(checked.error.issues[0]?.path ?? [])].join("."),
  });
}
