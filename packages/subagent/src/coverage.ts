import { CandorError, encodeCanonical, type Coverage, type CoverageState } from "@candor/contract";

/** What a call that covers a key task makes of the state so far. Two calls that differ leave it partly done. */
const observed: Readonly<Record<"done" | "failed", Readonly<Record<CoverageState, CoverageState>>>> = {
  done: { done: "done", partial: "partial", skipped: "done", failed: "partial" },
  failed: { done: "partial", partial: "partial", skipped: "failed", failed: "failed" },
};

/** Tasks that a report can give a state for, in number and in bytes. */
const mostTasks = 1_000;
const coverageBytes = 150 * 1024;

/** States of key tasks, from what calls came to and from what the agent's code says. What the code says wins. */
export class CoverageBook {
  readonly #keyTasks: readonly string[];
  readonly #tasks = new Set<string>();
  #bytes = 0;
  readonly #observed = new Map<string, CoverageState>();
  readonly #stated = new Map<string, CoverageState>();

  constructor(keyTasks: readonly string[]) {
    this.#keyTasks = keyTasks;
    for (const task of keyTasks) this.#count(task);
  }

  /**
   * Takes note that something covers a task, before it begins.
   * @throws CandorError `too-large` for one that the report would have no room for
   */
  expect(task: string | undefined): void {
    if (task === undefined || this.#tasks.has(task)) return;
    if (this.#tasks.size < mostTasks && this.#bytes + entryBytes(task) <= coverageBytes) this.#count(task);
    else throw new CandorError("too-large", `A report has no room for the state of so many tasks: leave out ${task}.`);
  }

  #count(task: string): void {
    this.#tasks.add(task);
    this.#bytes += entryBytes(task);
  }

  /** A call that covers the key task succeeded or failed for good. */
  observe(task: string | undefined, outcome: "done" | "failed"): void {
    if (task === undefined) return;
    this.#observed.set(task, observed[outcome][this.#observed.get(task) ?? "skipped"]);
  }

  /** A call that covers the key task was still under way when the report was made. */
  leave(task: string | undefined): void {
    if (task !== undefined) this.#observed.set(task, "partial");
  }

  state(task: string, state: CoverageState): void {
    this.#stated.set(task, state);
  }

  /** Every key task of the brief, those that nothing covered as skipped, then what else was covered. */
  get coverage(): Coverage {
    const tasks = new Set([...this.#keyTasks, ...this.#observed.keys(), ...this.#stated.keys()]);
    return [...tasks].map((task) => ({ task, state: this.#stated.get(task) ?? this.#observed.get(task) ?? "skipped" }));
  }
}

function entryBytes(task: string): number {
  return encodeCanonical({ task, state: "skipped" }).length;
}
