import type { LogEntry } from "@candor/contract";
import type { ConfidenceSample } from "./calibration.js";
import { scoreOf } from "./disclosure.js";
import { probeAnswer } from "./disclosure-state.js";
import { LaneFold, type LaneFoldOptions } from "./lane-fold.js";
import type { Verify } from "./output.js";

/** A report, and what became of it. */
export interface CalibrationSample extends ConfidenceSample {
  readonly task: string;
  readonly epoch: number;
}

/**
 * The reports of one run whose truth an independent prober told, as the guards' own fold has them: authentic, of the
 * epoch that was delegated, in the order of their chains (T6).
 *
 * @param entries all entries of the run, in log order
 */
export function calibrationSamples(
  entries: readonly LogEntry[],
  options: LaneFoldOptions & { readonly lane: number },
  verify: Verify,
): CalibrationSample[] {
  const fold = LaneFold.overHistory(options.lane, options);
  const own = new Map<string, number>();
  for (const entry of entries) {
    fold.fold(entry, verify);
    if (entry.type !== "event" || entry.kind !== "report") continue;
    const { task, epoch, actor, seq } = entry.event;
    const place = placeOf(task, epoch, actor, seq);
    const { selfReportedConfidence } = entry.payload;
    // Of two under one number the chain takes the first.
    if (selfReportedConfidence !== undefined && !own.has(place)) own.set(place, selfReportedConfidence);
  }
  return fold.epochs().flatMap(({ task, epoch }) => {
    const { disclosure, brief, actor } = epoch;
    const { report } = disclosure;
    const confirmed = probeAnswer(disclosure);
    if (report === undefined || confirmed === undefined) return [];
    const selfReported = own.get(placeOf(task, epoch.epoch, actor, report.at)) ?? null;
    const computed = scoreOf(disclosure, report, brief);
    return [{ actor, task, epoch: epoch.epoch, selfReported, computed, confirmed }];
  });
}

function placeOf(task: string, epoch: number, actor: string, seq: number): string {
  return `${task}/${epoch}/${actor}/${seq}`;
}
