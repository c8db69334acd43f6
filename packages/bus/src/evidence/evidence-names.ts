import {
  evidenceChunks,
  evidenceSubject,
  hex,
  isCandorError,
  parseEvidenceSubject,
  streams,
  type EvidenceAddress,
} from "@candor/contract";
import { apiRequest, refusal } from "../jetstream-api.js";
import type { Link } from "../link.js";
import { evidencePort } from "./evidence-port.js";
import { readEvidenceManifest } from "./read-evidence.js";

/** Subjects that the stream holds under a filter, page by page. */
async function subjectsUnder(link: Link, filter: string): Promise<string[]> {
  const found: string[] = [];
  for (;;) {
    const query = { subjects_filter: filter, offset: found.length };
    const answer = await apiRequest(link.nc, `${link.apiPrefix}.STREAM.INFO.${streams.evidence}`, query);
    if (!answer.ok) throw refusal(answer.failure, "list evidence");
    const { subjects = {} } = answer.body["state"] as { readonly subjects?: Readonly<Record<string, number>> };
    const page = Object.keys(subjects);
    found.push(...page);
    if (page.length === 0 || found.length >= Number(answer.body["total"] ?? 0)) return found;
  }
}

/**
 * Names of the pieces of evidence that have a manifest. For auditors, guards and the operator.
 *
 * @param run of one run alone; of all by default
 * @throws CandorError `server-unreachable`, `permission-denied`, `not-provisioned`
 */
export async function listEvidence(link: Link, run = "*"): Promise<EvidenceAddress[]> {
  const subjects = await subjectsUnder(link, `candor.evidence.*.${run}.*.0`);
  return subjects
    .sort()
    .map(parseEvidenceSubject)
    .filter((name) => name !== undefined);
}

/**
 * Whether a piece of evidence is stored whole: its manifest and every chunk that it names. What the chunks hold is not
 * looked at; whoever reads them checks the hash. For auditors, guards and the operator.
 *
 * @param size in bytes, where it is known; a manifest that says otherwise is none of this evidence
 * @throws CandorError `server-unreachable`, `permission-denied`, `not-provisioned`
 */
export async function isEvidenceStored(link: Link, at: EvidenceAddress, size?: number): Promise<boolean> {
  let stated: number;
  try {
    ({ size: stated } = await readEvidenceManifest(evidencePort(link), at));
  } catch (error) {
    if (isCandorError(error, "evidence-missing", "evidence-altered")) return false;
    throw error;
  }
  if (size !== undefined && size !== stated) return false;
  const subjects = new Set(await subjectsUnder(link, `candor.evidence.${at.actor}.${at.run}.${hex(at.hash)}.*`));
  const chunks = evidenceChunks(stated);
  for (let n = 1; n <= chunks; n += 1) if (!subjects.has(evidenceSubject(at, n))) return false;
  return true;
}

/**
 * Removes what the stream holds of a run's evidence. For guards and the operator.
 *
 * @param belowSeq only messages with a lower stream sequence
 */
export async function purgeEvidence(link: Link, run: string, belowSeq: number): Promise<number> {
  const query = { filter: `candor.evidence.*.${run}.>`, seq: belowSeq };
  const answer = await apiRequest(link.nc, `${link.apiPrefix}.STREAM.PURGE.${streams.evidence}`, query);
  if (!answer.ok) throw refusal(answer.failure, `remove the evidence of run ${run}`);
  return Number(answer.body["purged"] ?? 0);
}
