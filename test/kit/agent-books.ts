import {
  completionConfidence,
  errorLogReceiptOf,
  unseenRetryLayers,
  type Brief,
  type Finality,
  type Payload,
  type RetryEntry,
  type Scope,
  type Tally,
} from "@candor/contract";
import type { Signer } from "@candor/ledger";

/** What an honest agent knows of its own chain. */
export interface Author {
  seq: number;
  head: Uint8Array;
  readonly tally: Tally;
  readonly effects: Map<number, Payload<"report">["effects"][number]>;
  signer: Signer | undefined;
}

export interface ErrorOptions {
  readonly attempt?: number;
  readonly reasons?: readonly number[];
  readonly recovered?: boolean;
  readonly finality?: Finality;
}

/** An error of the operation `lookup`. */
export function errorPayload({
  attempt = 1,
  reasons = [],
  recovered = false,
  finality = "recoverable",
}: ErrorOptions = {}): Payload<"error"> {
  return {
    type: "transient",
    finality,
    recovered,
    operation: "lookup",
    attempt,
    attempts: reasons.map((reason, i) => ({ attempt: i + 1, reason, delayMs: 0 })),
    effects: [],
  };
}

/** The report that an honest runtime makes of its books, with any part bent. @param entries its retries */
export function honestReport(
  { tally, effects, head }: Author,
  entries: RetryEntry[],
  bend: Partial<Payload<"report">>,
  { brief, scope }: { brief: Brief; scope: Scope },
): Payload<"report"> {
  const coverage = bend.coverage ?? brief.keyTasks.map((name) => ({ task: name, state: "done" as const }));
  const caveats = bend.caveats ?? [];
  return {
    claim: "pass",
    finishReason: "completed",
    coverage,
    effects: [...effects.values()],
    receipts: {
      errorLog: errorLogReceiptOf(tally, head),
      retries: { entries, unseen: unseenRetryLayers(scope) },
    },
    receiptParts: 0,
    confidence: {
      formula: 1,
      score: completionConfidence({
        errors: tally.errors(),
        retries: tally.retryCount,
        coverage,
        keyTasks: brief.keyTasks,
        caveats: caveats.length,
      }),
      caveats: caveats.length,
    },
    work: { calls: 1, succeeded: 1 },
    caveats,
    ...bend,
  };
}
