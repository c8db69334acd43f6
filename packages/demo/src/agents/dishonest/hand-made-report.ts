import {
  completionConfidence,
  errorLogReceiptOf,
  Tally,
  unseenRetryLayers,
  zeroHash,
  type Coverage,
  type Payload,
  type Receipts,
  type Report,
  type Scope,
} from "@candor/contract";
import { seal } from "@candor/ledger";
import type { HandMadeChain, WrittenEvent } from "./hand-made-chain.js";

/** The receipts that belong to these events, and to nothing after them. */
export interface Account {
  readonly receipts: Receipts;
  readonly score: number;
}

/**
 * Makes true receipts of a beginning of a chain.
 *
 * @param keyTasks those of the brief
 */
export function accountOf(
  events: readonly WrittenEvent[],
  scope: Scope,
  coverage: Coverage,
  keyTasks: readonly string[],
): Account {
  const tally = new Tally();
  for (const { kind, payload, seq } of events) tally.add(seq, kind, payload);
  const entries = events
    .filter(({ kind }) => kind === "retry")
    .map(({ payload, seq }) => ({ seq, ...(payload as Payload<"retry">) }));
  const errors = tally.errors();
  return {
    receipts: {
      errorLog: errorLogReceiptOf(tally, events.at(-1)?.hash ?? zeroHash),
      retries: { entries, unseen: unseenRetryLayers(scope) },
    },
    score: completionConfidence({ errors, retries: entries.length, coverage, keyTasks, caveats: 0 }),
  };
}

/** A report that claims success with these receipts, whatever happened. */
export function successReport(
  { dataKey }: HandMadeChain,
  { receipts, score }: Account,
  facts: { readonly coverage: Coverage; readonly work: Report["work"]; readonly summary: string },
): Report {
  return {
    claim: "pass",
    finishReason: "completed",
    coverage: facts.coverage,
    effects: [],
    receipts,
    receiptParts: 0,
    confidence: { formula: 1, score, caveats: 0 },
    work: facts.work,
    summary: seal(facts.summary, dataKey),
    caveats: [],
  };
}
