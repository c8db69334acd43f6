import { EvidenceBody, openEvidenceSource, putEvidence, type EvidenceInput, type EvidencePort } from "@candor/bus";
import {
  CandorError,
  evidenceAddress,
  evidenceLimits,
  hex,
  utf8,
  type EvidenceHandle,
  type ReportedEvidence,
} from "@candor/contract";
import { requireLabel } from "./label.js";
import type { OpenCalls } from "./open-calls.js";
import type { Prose } from "./prose.js";

/** Evidence of a task, as its callback sees it (T2). */
export interface TaskEvidence {
  /**
   * Stores bytes, a text or a stream under its SHA-256, once: the same again gives the same handle. The handle goes into
   * the report, whatever the task claims.
   *
   * @param label one line for people, up to 128 characters; sealed
   * @param source up to 64 MiB; a stream is kept on disk while it is hashed
   * @throws CandorError `too-large`, `bad-argument`, `task-over` once the report is made; `store-full`,
   *   `server-unreachable` or `publish-unconfirmed`, after which it may be put again; `evidence-altered`
   */
  put(label: string, source: EvidenceInput): Promise<EvidenceHandle>;
  /**
   * Evidence of this agent in this run. It is read when it is iterated or asked for its bytes, and its hash checked then.
   *
   * @throws CandorError `bad-argument` for what is no handle, or one of another run or agent
   */
  get(handle: EvidenceHandle): EvidenceBody;
}

export interface EvidenceParts {
  readonly port: EvidencePort;
  readonly actor: string;
  readonly run: string;
  readonly prose: Prose;
  /** The report waits for evidence that is being stored. */
  readonly calls: OpenCalls;
  readonly requireUnreported: () => void;
  /** Where streams are kept while they are hashed. */
  readonly dir: string;
}

/** Operation under which storing evidence is named where a report had to be made without it. */
const operation = "evidence.put";

/** All that a task stored, and what else its report points to. */
export class EvidenceBook implements TaskEvidence {
  readonly #parts: EvidenceParts;
  readonly #known = new Map<string, ReportedEvidence>();

  constructor(parts: EvidenceParts) {
    this.#parts = parts;
  }

  /** What the report points to, in the order in which it was stored. */
  get reported(): readonly ReportedEvidence[] {
    return [...this.#known.values()];
  }

  put(label: string, source: EvidenceInput): Promise<EvidenceHandle> {
    return this.#parts.calls.follow({ operation, covers: undefined }, () => this.#put(label, source));
  }

  get(handle: EvidenceHandle): EvidenceBody {
    return new EvidenceBody(this.#parts.port, this.#own(handle));
  }

  /**
   * Adds evidence of an earlier epoch or process to what the report points to. All of it is read first: a pointer without
   * a body goes into no report.
   *
   * @throws CandorError `evidence-missing`, `evidence-altered`, `bad-argument`, `too-large`, `server-unreachable`
   */
  async refer(handles: readonly EvidenceHandle[]): Promise<void> {
    for (const handle of handles) {
      const { actor, hash, size } = this.#own(handle);
      if (this.#known.has(hex(hash))) continue;
      requireEvidenceLabel(handle.label);
      this.#requireRoom();
      await this.get(handle).verify();
      this.#known.set(hex(hash), { actor, hash, size, label: this.#parts.prose.seal(handle.label) });
    }
  }

  async #put(label: string, input: EvidenceInput): Promise<EvidenceHandle> {
    const { port, actor, run, prose, dir, requireUnreported } = this.#parts;
    requireUnreported();
    requireEvidenceLabel(label);
    this.#requireRoom();
    const source = await openEvidenceSource(input, dir);
    try {
      const sealed = prose.seal(label);
      const { hash, size } = await putEvidence(port, { actor, run }, source, sealed);
      requireUnreported();
      if (!this.#known.has(hex(hash))) {
        // Others may have come in while this one was being stored.
        this.#requireRoom();
        this.#known.set(hex(hash), { actor, hash, size, label: sealed });
      }
      return { run, actor, sha256: hex(hash), size, label };
    } finally {
      await source.close();
    }
  }

  #own(handle: EvidenceHandle): ReturnType<typeof evidenceAddress> {
    const { run, actor } = this.#parts;
    const at = evidenceAddress(handle, run);
    if (at.actor === actor) return at;
    throw new CandorError(
      "bad-argument",
      `This evidence is ${at.actor}'s, and an agent reads and reports its own: the orchestrator reads everybody's.`,
      { path: "handle.actor" },
    );
  }

  #requireRoom(): void {
    if (this.#known.size < evidenceLimits.maxHandles) return;
    throw new CandorError(
      "too-large",
      `A report points to ${evidenceLimits.maxHandles} pieces of evidence at most: put several into one.`,
    );
  }
}

function requireEvidenceLabel(label: string): void {
  requireLabel(label, "label");
  if (utf8(label).length <= evidenceLimits.maxLabelBytes) return;
  throw new CandorError("bad-argument", `label has more than ${evidenceLimits.maxLabelBytes} bytes in UTF-8.`, {
    path: "label",
  });
}
