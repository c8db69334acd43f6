import type { Coverage, CoverageState } from "@candor/contract";

/** What a call that covers a key task makes of the state so far. Two calls that differ leave it partly done. */
const observed: Readonly<Record<"done" | "failed", Readonly<Record<CoverageState, CoverageState>>>> = {
  done: { done: "done", partial: "partial", skipped: "done", failed: "partial" },
  failed: { done: "partial", partial: "partial", skipped: "failed", failed: "failed" },
};

/** States of key tasks, from what calls came to and from what the agent's code says. What the code says wins. */
export class CoverageBook {
  readonly #keyTasks: readonly string[];
  readonly #observed = new Map<string, CoverageState>();
  readonly #stated = new Map<string, CoverageState>();

  constructor(keyTasks: readonly string[]) {
    this.#keyTasks = keyTasks;
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
