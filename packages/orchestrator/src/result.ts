import {
  hex,
  isCandorError,
  type AdmittedEvent,
  type AdmittedOf,
  type Claim,
  type EvidenceHandle,
  type FinishReason,
  type LogEntry,
  type VerdictBody,
} from "@candor/contract";
import { decomposition, type Decomposition, type WorkSizes } from "@candor/guards";
import { unseal, verifySignature } from "@candor/ledger";
import type { LogClient, TaskAddress } from "./log-client.js";

/** What a subagent handed back (T1). A claim is no verdict: what it is worth, `decision` says. */
export interface SubagentResult {
  readonly task: string;
  readonly epoch: number;
  readonly actor: string;
  readonly claim: Claim;
  readonly finishReason: FinishReason;
  /** Prose for people; undefined where there is none, or its key is gone. */
  readonly summary: string | undefined;
  /** What was not checked; one whose key is gone is `(sealed)`. */
  readonly caveats: readonly string[];
  /** What bears the claim out. Reading a piece is a call of its own, `run.evidence.get`. */
  readonly evidence: readonly EvidenceHandle[];
  /** The model's own number in 0..1, null if it gave none. */
  readonly selfReportedConfidence: number | null;
  /** What the confidence function makes of the log, as the report says; the guard computes it anew. */
  readonly computedConfidence: number;
  /** Bytes that went through the agent and bytes that it handed back, where it counted (T5). */
  readonly sizes: WorkSizes | undefined;
  /** Whether the work was divided well, by those sizes. */
  readonly decomposition: Decomposition;
}

export interface ResultContext {
  readonly client: Pick<LogClient, "lastOfAgent">;
  /** Undefined once it is erased, or the run was closed in this process. */
  readonly dataKey: Uint8Array | undefined;
}

function is<K extends "accept" | "report">(entry: LogEntry | undefined, kind: K, epoch: number) {
  if (entry?.type !== "event" || entry.kind !== kind || entry.event.epoch !== epoch) return undefined;
  return entry as AdmittedEvent & AdmittedOf<K>;
}

/** True if the task key that the acceptance binds signed the report. That the agent's own identity certified the key, the guard checked. */
function isSigned(report: AdmittedEvent, accept: AdmittedOf<"accept">): boolean {
  const { signature, hash } = report;
  return signature !== undefined && verifySignature(accept.payload.taskKey, hash, signature);
}

function opened(sealed: Uint8Array | undefined, key: Uint8Array | undefined): string | undefined {
  if (sealed === undefined || key === undefined) return undefined;
  try {
    return unseal(sealed, key);
  } catch (error) {
    if (isCandorError(error, "bad-seal")) return undefined;
    throw error;
  }
}

/**
 * Reads the report that a verdict is about.
 *
 * @param verdict of judge disclosure on the task's epoch
 * @returns undefined where no report is in the log, or one that the verdict is not about
 */
export async function readResult(
  { client, dataKey }: ResultContext,
  at: TaskAddress,
  verdict: VerdictBody,
): Promise<SubagentResult | undefined> {
  const { epoch, actor, cause } = verdict;
  if (actor === undefined) return undefined;
  const [first, second] = await Promise.all([
    client.lastOfAgent(at, actor, "report"),
    client.lastOfAgent(at, actor, "accept"),
  ]);
  const [report, accept] = [is(first, "report", epoch), is(second, "accept", epoch)];
  if (report === undefined || accept === undefined || report.seq > cause.last || !isSigned(report, accept)) {
    return undefined;
  }
  const { payload } = report;
  return {
    task: at.task,
    epoch,
    actor,
    claim: payload.claim,
    finishReason: payload.finishReason,
    summary: opened(payload.summary, dataKey),
    caveats: payload.caveats.map((caveat) => opened(caveat, dataKey) ?? "(sealed)"),
    evidence: (payload.evidence ?? []).map(({ actor: owner, hash, size, label }) => ({
      run: at.run,
      actor: owner,
      sha256: hex(hash),
      size,
      label: opened(label, dataKey) ?? "(sealed)",
    })),
    selfReportedConfidence: payload.selfReportedConfidence ?? null,
    computedConfidence: payload.confidence.score,
    sizes: payload.sizes,
    decomposition: payload.sizes === undefined ? "unmeasured" : decomposition(payload.sizes),
  };
}
