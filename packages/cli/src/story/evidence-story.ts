import { evidencePort, isEvidenceStored, listEvidence, readEvidenceManifest, type Bus } from "@candor/bus";
import { hex, isCandorError, type EvidenceAddress } from "@candor/contract";
import { prose } from "./prose.js";
import type { RunLog } from "./run-log.js";

/** Where a piece of evidence is: all of it stored, removed after its run, or pointed to and not there. */
export type EvidenceState = "stored" | "collected" | "missing";

/** One piece of evidence of a run, as log and store tell of it. */
export interface EvidenceStory {
  readonly sha256: string;
  /** Who stored it. */
  readonly actor: string;
  /** In bytes; undefined where nothing says. */
  readonly size: number | undefined;
  readonly label: string | undefined;
  /** Tasks whose reports point to it. */
  readonly tasks: readonly string[];
  readonly state: EvidenceState;
  /** Log time in ms at which it was removed. */
  readonly collectedMs?: number;
}

type Draft = { -readonly [K in keyof EvidenceStory]: EvidenceStory[K] } & { readonly tasks: string[] };

/** What the store holds of a piece, as its manifest says; size and label are left out where that can't be read. */
async function manifestOf(
  bus: Bus,
  at: EvidenceAddress,
): Promise<{ readonly size?: number; readonly label?: Uint8Array }> {
  try {
    return await readEvidenceManifest(evidencePort(bus), at);
  } catch (error) {
    if (isCandorError(error, "evidence-missing", "evidence-altered")) return {};
    throw error;
  }
}

/**
 * All evidence of a run: what its reports point to, what is stored, and what was collected.
 *
 * @param bus connection of the operator or an auditor
 */
export async function tellEvidence(bus: Bus, { run, entries, key }: RunLog): Promise<readonly EvidenceStory[]> {
  const found = new Map<string, Draft>();
  const draft = (actor: string, hash: Uint8Array, size: number | undefined, label: Uint8Array | undefined): Draft => {
    const name = `${actor}/${hex(hash)}`;
    const known = found.get(name) ?? { sha256: hex(hash), actor, size, label: undefined, tasks: [], state: "missing" };
    known.size ??= size;
    known.label ??= prose(label, key);
    found.set(name, known);
    return known;
  };
  for (const entry of entries) {
    if (entry.type !== "event") continue;
    if (entry.kind === "report") {
      for (const { actor, hash, size, label } of entry.payload.evidence ?? []) {
        const { tasks } = draft(actor, hash, size, label);
        if (!tasks.includes(entry.event.task)) tasks.push(entry.event.task);
      }
    } else if (entry.kind === "collected") {
      for (const { actor, hash, size, label } of entry.payload.items)
        Object.assign(draft(actor, hash, size, label), { state: "collected", collectedMs: entry.timeMs });
    }
  }
  for (const at of await listEvidence(bus, run)) {
    const { size, label } = await manifestOf(bus, at);
    const known = draft(at.actor, at.hash, size, label);
    if (await isEvidenceStored(bus, at)) known.state = "stored";
  }
  return [...found.values()];
}
