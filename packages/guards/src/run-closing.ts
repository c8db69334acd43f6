import { defaultEvidenceRetentionMs, type LogEntry } from "@candor/contract";
import { LaneFold } from "./lane-fold.js";
import type { Verify } from "./output.js";

/** How a run ended, as far as its evidence goes. */
export interface RunClosing {
  /** Log time in ms of the closing that holds. */
  readonly closedAtMs: number;
  /** How long its evidence is kept after that, in ms, by the run's own policy. */
  readonly retentionMs: number;
}

/**
 * Whether and when a run was closed, by the intents that hold: a closing that a stranger wrote ends nothing (T3).
 *
 * @param history entries of the run itself (task `_run`), in log order
 * @param operator public key of the operator
 * @returns undefined for a run that is open, or that nobody opened
 */
export function closingOf(
  lane: number,
  operator: string,
  history: readonly LogEntry[],
  verify: Verify,
): RunClosing | undefined {
  const fold = new LaneFold(lane, { operator }, true);
  let retentionMs = defaultEvidenceRetentionMs;
  for (const entry of history) {
    const holds = fold
      .fold(entry, verify)
      .some((output) => output.type === "verdict" && output.body.verdict === "INTENT_ACCEPTED");
    if (!holds || entry.type !== "event") continue;
    if (entry.kind === "run-open") retentionMs = entry.payload.policy.evidenceRetentionMs ?? retentionMs;
    if (entry.kind === "run-close") return { closedAtMs: entry.timeMs, retentionMs };
  }
  return undefined;
}
