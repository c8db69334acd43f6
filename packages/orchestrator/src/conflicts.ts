import { hex, type VerdictBody } from "@candor/contract";

/** A task whose result is in conflict. */
export interface ConflictingResult {
  readonly task: string;
  readonly epoch: number;
  readonly actor: string;
}

/** Two results that say the opposite of the same thing (T4). */
export interface ResultConflict {
  readonly pass: ConflictingResult;
  readonly fail: ConflictingResult;
  /** What both examined; empty where they only share evidence. */
  readonly on: readonly string[];
  /** What to open, what both point to first. `run.result(task)` has the handles. */
  readonly evidence: readonly { readonly task: string; readonly actor: string; readonly sha256: string }[];
}

/** The conflicts that a verdict on a run's results lists. */
export function conflictsIn(verdict: VerdictBody | undefined): readonly ResultConflict[] {
  return (verdict?.conflicts ?? []).map(({ pass, fail, on, evidence }) => ({
    pass,
    fail,
    on,
    evidence: evidence.map(({ task, actor, hash }) => ({ task, actor, sha256: hex(hash) })),
  }));
}
