import { CandorError } from "@candor/contract";
import { seal } from "@candor/ledger";
import type { RunContext } from "./run-context.js";

/** What this process may still do to a run, and the data key that it needs for it. */
export class RunRights {
  readonly #context: Pick<RunContext, "fleet" | "id" | "parent">;
  #dataKey: Uint8Array | undefined;
  #isClosed: boolean;

  constructor({ id, fleet, parent, dataKey, isClosed }: RunContext) {
    this.#context = { id, fleet, parent };
    this.#dataKey = dataKey;
    this.#isClosed = isClosed;
  }

  /** Undefined once it is erased or forgotten. */
  get dataKey(): Uint8Array | undefined {
    return this.#dataKey;
  }

  /** @throws CandorError `task-over` if this process closed the run */
  requireOpen(): void {
    if (!this.#isClosed) return;
    throw new CandorError("task-over", `Run ${this.#context.id} is closed: open a new one.`);
  }

  /**
   * What concerns the run itself is for the fleet that opened it.
   *
   * @throws CandorError `task-over` if this process closed the run, `no-delegation` for a sub-fleet
   */
  requireOpener(): void {
    this.requireOpen();
    const { parent, fleet, id } = this.#context;
    if (parent === undefined) return;
    throw new CandorError(
      "no-delegation",
      `${fleet.name} delegates parts of task ${parent.task} in run ${id}; the run itself is for ${parent.opener} to change.`,
    );
  }

  /** @throws CandorError `not-found` once the data key is erased or forgotten */
  requireDataKey(): Uint8Array {
    if (this.#dataKey !== undefined) return this.#dataKey;
    throw new CandorError(
      "not-found",
      `The data key of run ${this.#context.id} is not there any more, so nothing can be sealed: open a new run.`,
    );
  }

  /** Seals prose under the data key. @throws CandorError `not-found` once that is erased or forgotten */
  seal(text: string): Uint8Array {
    return seal(text, this.requireDataKey());
  }

  /** The run is closed: nothing more is issued, nothing more is sealed. */
  close(): void {
    this.#isClosed = true;
    this.forgetKey();
  }

  forgetKey(): void {
    this.#dataKey?.fill(0);
    this.#dataKey = undefined;
  }
}
