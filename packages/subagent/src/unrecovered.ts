import type { AgentKind, Payload } from "@candor/contract";
import type { PriorAttempt } from "./attempt-scope.js";

/** The end of a row of failed tries that nothing has answered yet. */
export interface OpenRow {
  readonly seq: number;
  readonly attempt: number;
  readonly priors: readonly PriorAttempt[];
}

interface Row extends OpenRow {
  readonly operation: string;
}

/**
 * Rows of failed tries that nothing has answered, by operation: those that an earlier process left behind. The callback runs again from its beginning,
 * so the first call of the operation goes on with the row: it is a retry, and its success recovers the row.
 */
export class UnrecoveredRows {
  readonly #rows = new Map<number, Row>();

  /** Folds one event of the spool. */
  observe(seq: number, kind: AgentKind, payload: unknown): void {
    if (kind === "error") {
      const { operation, attempt, attempts, recovered } = payload as Payload<"error">;
      const previous = attempts.at(-1)?.reason;
      if (previous !== undefined) this.#rows.delete(previous);
      if (!recovered) this.#rows.set(seq, { seq, operation, attempt, priors: attempts });
    } else if (kind === "retry") {
      const { reason, outcome } = payload as Payload<"retry">;
      if (outcome === "ok") this.#rows.delete(reason);
    }
  }

  /** Leaves a row for the next call of the operation. */
  leave(operation: string, row: OpenRow): void {
    this.#rows.set(row.seq, { ...row, operation });
  }

  /** Takes the oldest row of an operation out. */
  take(operation: string): OpenRow | undefined {
    for (const row of this.#rows.values()) {
      if (row.operation !== operation) continue;
      this.#rows.delete(row.seq);
      return row;
    }
    return undefined;
  }
}
