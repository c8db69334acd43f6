import {
  concatBytes,
  decodeValue,
  equalBytes,
  receiptsSchema,
  unseenRetryLayers,
  type DisclosureFindingCode,
  type EffectPhase,
  type ErrorLogReceipt,
  type Receipts,
  type Report,
  type Scope,
  type Tally,
} from "@candor/contract";
import type { TrackedEffect } from "./effect-ledger.js";

/** Puts receipts together that travelled in parts; undefined if a part is missing or the whole is none. */
export function joinReceipts(found: readonly Uint8Array[], parts: number): Receipts | undefined {
  if (parts === 0 || parts !== found.length) return undefined;
  try {
    const parsed = receiptsSchema.safeParse(decodeValue(concatBytes(...found)));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}

/** Compares what the agent signed with what the log says, field by field. */
export function compareReceipts(
  receipts: Receipts | undefined,
  log: ErrorLogReceipt,
  tally: Tally,
  scope: Scope | undefined,
  found: (code: DisclosureFindingCode, about: string) => void,
): void {
  if (receipts === undefined) {
    found("receipt-mismatch", "receipts");
    return;
  }
  const { errorLog, retries } = receipts;
  for (const field of ["count", "first", "last"] as const)
    if (errorLog[field] !== log[field]) found("receipt-mismatch", field);
  if (!equalBytes(errorLog.head, log.head)) found("receipt-mismatch", "head");
  if (!sameTally(errorLog.byKind, log.byKind)) found("tally-mismatch", "byKind");
  if (!sameTally(errorLog.byType, log.byType)) found("tally-mismatch", "byType");
  if (!sameErrors(errorLog.errors, log.errors)) found("tally-mismatch", "errors");
  for (const seq of tally.undisclosedRetries(retries)) found("retry-undisclosed", String(seq));
  if (retries.entries.length > tally.retryCount) found("tally-mismatch", "retries");
  const unseen = scope === undefined ? [] : unseenRetryLayers(scope);
  if (unseen.some((dimension) => !retries.unseen.includes(dimension))) found("tally-mismatch", "unseen");
}

/** Compares the effects that a report owns up to with those of the log, as of the report (D9). */
export function compareEffects(
  declared: Report["effects"],
  log: readonly TrackedEffect[],
  found: (code: DisclosureFindingCode, key: string, seq?: number) => void,
): void {
  const told = new Map(declared.map((effect) => [effect.dispatch, effect]));
  if (told.size < declared.length) found("receipt-mismatch", "effects");
  for (const { dispatch, key, phase, seq } of log) {
    const effect = told.get(dispatch);
    told.delete(dispatch);
    if (effect?.key !== key) found("effect-undeclared", key, seq);
    else if (effect.phase !== phase) found(phaseFault(phase, effect.phase), key, seq);
  }
  for (const { key } of told.values()) found("receipt-mismatch", key);
}

const happened: ReadonlySet<EffectPhase> = new Set(["committed", "compensated"]);
const failed: ReadonlySet<EffectPhase> = new Set(["failed", "not-run"]);

/** An effect told as another than it was: a failure as a success, or what happened or may have as nothing. */
function phaseFault(log: EffectPhase, told: EffectPhase): DisclosureFindingCode {
  if (failed.has(log)) return happened.has(told) ? "failure-turned-success" : "receipt-mismatch";
  return failed.has(told) ? "effect-undeclared" : "receipt-mismatch";
}

function sameTally(
  a: Readonly<Record<string, number | undefined>>,
  b: Readonly<Record<string, number | undefined>>,
): boolean {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].every((name) => a[name] === b[name]);
}

function sameErrors(a: Receipts["errorLog"]["errors"], b: Receipts["errorLog"]["errors"]): boolean {
  return (
    a.length === b.length &&
    a.every((error, i) => {
      const other = b[i];
      return (
        error.seq === other?.seq &&
        error.type === other.type &&
        error.finality === other.finality &&
        error.recovered === other.recovered
      );
    })
  );
}
