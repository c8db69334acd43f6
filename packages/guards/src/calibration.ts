/** One report whose truth is known: what was said of it beforehand, and whether it proved right. */
export interface ConfidenceSample {
  /** Name of the subagent. */
  readonly actor: string;
  /** The model's own number, 0 to 1; null if it gave none. */
  readonly selfReported: number | null;
  /** The score that the log gives (D3), 0 to 1. */
  readonly computed: number;
  /** Whether an independent look confirmed the work. */
  readonly confirmed: boolean;
}

/** How often what was said with about this confidence proved right. */
export interface ReliabilityBin {
  /** Bounds of the confidence; `from` belongs to the bin, `to` to the next one, but for the last, which has 1 in it. */
  readonly from: number;
  readonly to: number;
  readonly count: number;
  /** Mean confidence in the bin. */
  readonly confidence: number;
  /** Share that was confirmed: as much as `confidence` where the number can be taken at its word. */
  readonly confirmed: number;
}

/** How good one kind of number was. */
export interface Reliability {
  /** Samples that have the number. */
  readonly count: number;
  /**
   * Brier score (Brier, 1950): the mean of (confidence − outcome)², 0 at best, 0.25 for one who always says 0.5, 1 at
   * worst; null without samples.
   */
  readonly brier: number | null;
  /** Bins that have samples, in order. */
  readonly bins: readonly ReliabilityBin[];
}

/** Both numbers of one subagent side by side (T6). */
export interface Calibration {
  readonly actor: string;
  readonly count: number;
  /** How many were confirmed. */
  readonly confirmed: number;
  readonly selfReported: Reliability;
  readonly computed: Reliability;
}

export const calibrationBins = 10;

/** Compares what was said of reports with what came of them, for each subagent, by name. */
export function calibrate(samples: readonly ConfidenceSample[]): Calibration[] {
  const actors = [...new Set(samples.map(({ actor }) => actor))].sort();
  return actors.map((actor) => {
    const own = samples.filter((sample) => sample.actor === actor);
    return {
      actor,
      count: own.length,
      confirmed: own.filter(({ confirmed }) => confirmed).length,
      selfReported: reliabilityOf(own, ({ selfReported }) => selfReported),
      computed: reliabilityOf(own, ({ computed }) => computed),
    };
  });
}

interface Said {
  readonly confidence: number;
  readonly outcome: 0 | 1;
}

function reliabilityOf(
  samples: readonly ConfidenceSample[],
  numberOf: (sample: ConfidenceSample) => number | null,
): Reliability {
  const said = samples.flatMap((sample): Said[] => {
    const confidence = numberOf(sample);
    return confidence === null ? [] : [{ confidence, outcome: sample.confirmed ? 1 : 0 }];
  });
  const bins = Array.from({ length: calibrationBins }, (_, bin) => said.filter((one) => binOf(one.confidence) === bin));
  return {
    count: said.length,
    brier: said.length === 0 ? null : mean(said, ({ confidence, outcome }) => (confidence - outcome) ** 2),
    bins: bins.flatMap((inside, bin) => (inside.length === 0 ? [] : [reliabilityBin(inside, bin)])),
  };
}

function binOf(confidence: number): number {
  return Math.min(calibrationBins - 1, Math.floor(confidence * calibrationBins));
}

function reliabilityBin(inside: readonly Said[], bin: number): ReliabilityBin {
  return {
    from: bin / calibrationBins,
    to: (bin + 1) / calibrationBins,
    count: inside.length,
    confidence: mean(inside, ({ confidence }) => confidence),
    confirmed: mean(inside, ({ outcome }) => outcome),
  };
}

function mean(said: readonly Said[], valueOf: (one: Said) => number): number {
  return said.reduce((sum, one) => sum + valueOf(one), 0) / said.length;
}
