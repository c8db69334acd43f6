import { CandorError, decodeBase64, encodeBase64, hex, type Certificate } from "@candor/contract";
import { checkCertificate } from "./certificate.js";
import { openNote, parseNote, signNote } from "./note.js";
import type { Signer } from "./signature/signer.js";

/** What a guard pins of a lane: everything up to `position`, in one hash. */
export interface Checkpoint {
  readonly lane: number;
  /** Messages of the lane so far, from 1. */
  readonly size: number;
  /** Merkle root over their leaf hashes, 32 bytes. */
  readonly root: Uint8Array;
  /** Stream sequence of the last of them. */
  readonly position: number;
  /** Log timestamp of the last of them, in ms since 1970. */
  readonly timeMs: number;
  /** Leaf hash of the last of them, 32 bytes. */
  readonly leaf: Uint8Array;
  /** Version of the fold that read them. */
  readonly fold: number;
  /** Hashes of the policies in force, 32 bytes each. */
  readonly policies: readonly Uint8Array[];
}

const noPolicies = "-";
const lineNames = ["origin", "size", "root", "position", "time", "leaf", "fold", "policies"] as const;

/**
 * The text of a checkpoint (C2SP tlog-checkpoint): origin `candor/lane/<lane>`, size and base64 root, then the extension lines
 * `position`, `time` (ms), `leaf` (base64), `fold` and `policies` (hex, sorted, comma between; `-` for none). It is a function
 * of the checkpoint, so that two guards write the same.
 *
 * The origin tells lanes apart and not deployments: which log a checkpoint is of follows from the operator who certified
 * its guard. So each deployment needs an operator of its own, staging too.
 */
export function formatCheckpoint(checkpoint: Checkpoint): string {
  const { lane, size, root, position, timeMs, leaf, fold, policies } = checkpoint;
  const hashes = policies.map(hex).sort().join(",");
  return [
    `candor/lane/${lane}`,
    size,
    encodeBase64(root),
    `position ${position}`,
    `time ${timeMs}`,
    `leaf ${encodeBase64(leaf)}`,
    `fold ${fold}`,
    `policies ${hashes === "" ? noPolicies : hashes}`,
    "",
  ].join("\n");
}

function refuse(line: string): never {
  throw new CandorError(
    "malformed",
    `The checkpoint's ${line} line is wrong. A newer guard may have written it; update this program.`,
    { path: line },
  );
}

function readNumber(line: string, text: string | undefined, prefix: string, least: number): number {
  const digits = text?.startsWith(prefix) === true ? text.slice(prefix.length) : "";
  const value = Number(digits);
  return /^\d{1,16}$/.test(digits) && Number.isSafeInteger(value) && value >= least ? value : refuse(line);
}

function readHash(line: string, text: string | undefined, prefix: string): Uint8Array {
  const hash = text?.startsWith(prefix) === true ? decodeBase64(text.slice(prefix.length)) : undefined;
  return hash?.length === 32 ? hash : refuse(line);
}

function readPolicies(text: string | undefined): Uint8Array[] {
  const match = /^policies (?<list>-|[0-9a-f]{64}(?:,[0-9a-f]{64})*)$/.exec(text ?? "");
  const list = match?.groups?.["list"] ?? refuse("policies");
  if (list === noPolicies) return [];
  return list.split(",").map((text64) => Uint8Array.from(text64.match(/../g) ?? [], (pair) => parseInt(pair, 16)));
}

/**
 * Reads the text of a checkpoint, whoever signed it.
 *
 * @throws CandorError `malformed` with the name of the line, also for text that `formatCheckpoint` would write in another way
 */
export function parseCheckpoint(text: string): Checkpoint {
  const [origin, size, root, position, time, leaf, fold, policies] = text.split("\n");
  const checkpoint = {
    lane: readNumber("origin", origin, "candor/lane/", 0),
    size: readNumber("size", size, "", 1),
    root: readHash("root", root, ""),
    position: readNumber("position", position, "position ", 1),
    timeMs: readNumber("time", time, "time ", 0),
    leaf: readHash("leaf", leaf, "leaf "),
    fold: readNumber("fold", fold, "fold ", 1),
    policies: readPolicies(policies),
  };
  const written = formatCheckpoint(checkpoint).split("\n");
  const lines = text.split("\n");
  const differing = written.findIndex((line, index) => line !== lines[index]);
  if (differing !== -1 || lines.length !== written.length) refuse(lineNames[differing] ?? "last");
  return checkpoint;
}

/**
 * A checkpoint as a signed note.
 *
 * @param guard name and signer of the guard
 */
export function signCheckpoint(
  checkpoint: Checkpoint,
  guard: { readonly name: string; readonly signer: Signer },
): string {
  return signNote(formatCheckpoint(checkpoint), guard.name, guard.signer);
}

/** The checkpoint in a note whose signature nobody has checked: for lists and displays. */
export function readCheckpoint(note: string): Checkpoint {
  return parseCheckpoint(parseNote(note).text);
}

/**
 * The checkpoint in a note, after checking that a guard certified by the operator signed it.
 *
 * @param note as published
 * @param operatorKey public key text of the operator
 * @param certificate the guard's, as it came with the note
 * @throws CandorError `untrusted-key` if the operator did not certify this guard, `bad-signature` if the guard did not sign this
 *   note, `malformed` if it is no checkpoint
 */
export function openCheckpoint(note: string, operatorKey: string, certificate: Certificate): Checkpoint {
  checkCertificate(operatorKey, certificate);
  if (certificate.role !== "guard") {
    throw new CandorError(
      "untrusted-key",
      `${certificate.name} is certified as ${certificate.role}; only guards sign checkpoints.`,
    );
  }
  return parseCheckpoint(openNote(note, certificate.name, certificate.key));
}
