import { listEvidence, type Link } from "@candor/bus";
import { isCandorError, laneOf, type EvidenceAddress, type LogEntry, type Logger } from "@candor/contract";
import { closingOf } from "@candor/guards";
import { verifySignature } from "@candor/ledger";
import { collectRun } from "./evidence-removal.js";

/** What the collector needs to know of a lane that this guard runs. */
export interface CollectedLane {
  readonly lane: number;
  /** Estimated log time in ms, while the lane is live and folded to its end. */
  readonly upToDateMs: number | undefined;
  readonly isOpen: (run: string) => boolean;
}

export interface EvidenceCollectorOptions {
  readonly link: Link;
  readonly operator: string;
  /** Lanes that there are. */
  readonly laneCount: number;
  readonly lanes: readonly CollectedLane[];
  /** Entries of a run itself, in log order. */
  readonly readRun: (lane: number, run: string) => Promise<readonly LogEntry[]>;
  /** Time between two looks, in ms. */
  readonly everyMs: number;
  readonly logger: Logger;
}

/** Runs whose history is read in one look; the others have their turn in the next. */
const mostReadings = 100;
/** A run that nobody opened or closed is looked at again after so long, in ms. */
const unknownMs = 3_600_000;

/**
 * Removes evidence whose run was closed long enough ago, by the run's own policy, and tells the log what went (T3). It
 * asks the store which runs have evidence, so it needs no memory of closed ones. Several guards may do so at a time.
 */
export class EvidenceCollector {
  readonly #options: EvidenceCollectorOptions;
  /** When a run that is closed, or unknown, is to be looked at, in log time. */
  readonly #dueMs = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(options: EvidenceCollectorOptions) {
    this.#options = options;
  }

  start(): void {
    void this.#look().finally(() => {
      if (this.#stopped) return;
      this.#timer = setTimeout(() => {
        this.start();
      }, this.#options.everyMs).unref();
    });
  }

  /** Ends it; what is under way ends with the connection, or by itself. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  async #look(): Promise<void> {
    const { link, logger } = this.#options;
    try {
      const byRun = new Map<string, EvidenceAddress[]>();
      for (const name of await listEvidence(link)) {
        const known = byRun.get(name.run);
        if (known === undefined) byRun.set(name.run, [name]);
        else known.push(name);
      }
      for (const run of this.#dueMs.keys()) if (!byRun.has(run)) this.#dueMs.delete(run);
      let readings = 0;
      for (const run of byRun.keys()) {
        if (this.#stopped || readings >= mostReadings) return;
        if (await this.#lookAt(run)) readings += 1;
      }
    } catch (error) {
      if (this.#stopped) return;
      const code = isCandorError(error) ? error.code : "defect";
      logger.warn({ code, err: error }, "evidence could not be collected now");
    }
  }

  /** Returns whether the run's history had to be read. */
  async #lookAt(run: string): Promise<boolean> {
    const { link, operator, laneCount, lanes, readRun, logger } = this.#options;
    const lane = lanes.find(({ lane: number }) => number === laneOf(run, laneCount));
    const nowMs = lane?.upToDateMs;
    // A halted lane decides nothing, and one that lags does not know yet which runs are open.
    if (lane === undefined || nowMs === undefined || lane.isOpen(run)) return false;
    if ((this.#dueMs.get(run) ?? 0) > nowMs) return false;
    const closing = closingOf(lane.lane, operator, await readRun(lane.lane, run), verifySignature);
    const dueMs = closing === undefined ? nowMs + unknownMs : closing.closedAtMs + closing.retentionMs;
    this.#dueMs.set(run, dueMs);
    if (closing === undefined || dueMs > nowMs) return true;
    const count = await collectRun(link, { run, lane: lane.lane, closedAtMs: closing.closedAtMs, nowMs });
    if (count !== undefined) logger.info({ run, lane: lane.lane, count }, "evidence collected");
    return true;
  }
}
