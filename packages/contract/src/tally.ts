import type { ErrorLogReceipt, RetryManifest } from "./payloads/agent.js";
import type { Payload } from "./payloads/index.js";
import { errorTypes, finalities, type ErrorType, type EventKind, type ScopeDimension } from "./vocabulary.js";

export type ErrorEntry = ErrorLogReceipt["errors"][number];
export type RetryEntry = RetryManifest["entries"][number];

/** Numbers an error leaves in a tally: itself, and the error that the failed try was an answer to (0 for none). */
const errorWidth = 2;
/** Numbers a retry leaves: its seq, and the distance to the error it answers beside a fingerprint of the rest. */
const retryWidth = 2;
const fingerprintSpan = 2 ** 22;
const outcomeWords = ["ok", "failed", "abandoned"] as const;

/** FNV-1a over the texts and numbers of an entry: not against malice (the chain is), but to keep open tasks small. */
function fingerprint(entry: Omit<RetryEntry, "seq" | "reason">): number {
  const text = `${entry.operation}\n${entry.upstream ?? ""}\n${entry.attempt}\n${entry.delayMs}\n${outcomeWords.indexOf(entry.outcome)}`;
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 10;
}

/** An answer that is no answer (to itself or to what came later) packs like none that a log can hold. */
function packAnswer(entry: RetryEntry): number {
  return (entry.seq - entry.reason) * fingerprintSpan + fingerprint(entry);
}

function packError({ seq, type, finality, recovered }: ErrorEntry): number {
  return seq * 128 + errorTypes.indexOf(type) * 8 + finalities.indexOf(finality) * 2 + (recovered ? 1 : 0);
}

function unpackError(packed: number): ErrorEntry {
  const low = packed % 128;
  return {
    seq: Math.floor(packed / 128),
    type: errorTypes[low >> 3] as ErrorType,
    finality: finalities[(low >> 1) & 3] as ErrorEntry["finality"],
    recovered: (low & 1) === 1,
  };
}

/**
 * What one author's chain comes to, added event by event in `seq` order. The recorder checks its receipts with it
 * and the guard recomputes them from the log with it: one definition of `recovered`, two independent inputs.
 * Held for every open task, hence packed into arrays of small numbers.
 */
export class Tally {
  /** Events added so far. */
  count = 0;
  readonly byKind: Partial<Record<EventKind, number>> = {};
  readonly #errors: number[] = [];
  readonly #retries: number[] = [];

  add(seq: number, kind: EventKind, payload: unknown): void {
    this.count += 1;
    this.byKind[kind] = (this.byKind[kind] ?? 0) + 1;
    if (kind === "error") this.#addError(seq, payload as Payload<"error">);
    else if (kind === "retry") this.#addRetry(seq, payload as Payload<"retry">);
  }

  get retryCount(): number {
    return this.#retries.length / retryWidth;
  }

  get errorCount(): number {
    return this.#errors.length / errorWidth;
  }

  /** Every error in order, with `recovered` as the retries so far make it. */
  errors(): ErrorEntry[] {
    const entries: ErrorEntry[] = [];
    for (let i = 0; i < this.#errors.length; i += errorWidth) entries.push(unpackError(this.#errors[i] as number));
    return entries;
  }

  byType(): Partial<Record<ErrorType, number>> {
    const tally: Partial<Record<ErrorType, number>> = {};
    for (const { type } of this.errors()) tally[type] = (tally[type] ?? 0) + 1;
    return tally;
  }

  /** `seq` of each retry in the log that the manifest does not list, or lists differently. */
  undisclosedRetries(manifest: Pick<RetryManifest, "entries">): number[] {
    const listed = new Map(manifest.entries.map((entry) => [entry.seq, entry]));
    const missing: number[] = [];
    for (let i = 0; i < this.#retries.length; i += retryWidth) {
      const seq = this.#retries[i] as number;
      const entry = listed.get(seq);
      if (entry === undefined || packAnswer(entry) !== this.#retries[i + 1]) missing.push(seq);
    }
    return missing;
  }

  /** `seq` of every error that some retry answers. */
  retriedErrors(): Set<number> {
    const retried = new Set<number>();
    for (let i = 0; i < this.#retries.length; i += retryWidth) {
      const distance = Math.floor((this.#retries[i + 1] as number) / fingerprintSpan);
      retried.add((this.#retries[i] as number) - distance);
    }
    return retried;
  }

  #addError(seq: number, { type, finality, recovered, attempts }: Payload<"error">): void {
    this.#errors.push(packError({ seq, type, finality, recovered }), attempts.at(-1)?.reason ?? 0);
  }

  #addRetry(seq: number, payload: Payload<"retry">): void {
    this.#retries.push(seq, packAnswer({ seq, ...payload }));
    if (payload.outcome !== "ok") return;
    // A success answers its own error and, step by step, the whole row of failed tries before it.
    let reason = payload.reason;
    while (reason > 0) {
      const index = this.#indexOf(reason);
      if (index < 0) return;
      const packed = this.#errors[index] as number;
      if (packed % 2 === 1) return;
      this.#errors[index] = packed + 1;
      reason = this.#errors[index + 1] as number;
    }
  }

  /** Errors are added in `seq` order, so a binary search finds one. */
  #indexOf(seq: number): number {
    let low = 0;
    let high = this.#errors.length / errorWidth - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const found = Math.floor((this.#errors[middle * errorWidth] as number) / 128);
      if (found === seq) return middle * errorWidth;
      if (found < seq) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  }
}

/** The receipt that a chain with this tally and head must carry (D1). */
export function errorLogReceiptOf(tally: Tally, head: Uint8Array): ErrorLogReceipt {
  const { count, byKind } = tally;
  return {
    count,
    first: count === 0 ? 0 : 1,
    last: count,
    head,
    byKind: { ...byKind },
    byType: tally.byType(),
    errors: tally.errors(),
  };
}

/** Dimensions whose retries a runtime with this scope can't have counted. */
export function unseenRetryLayers(scope: {
  readonly dimensions: Readonly<Record<ScopeDimension, string>>;
}): ScopeDimension[] {
  return (["modelAttempts", "transportAttempts"] as const).filter(
    (dimension) => scope.dimensions[dimension] === "unseen",
  );
}
