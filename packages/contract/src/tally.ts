import { sha256Text } from "#digest";
import type { ErrorLogReceipt, RetryManifest } from "./payloads/agent.js";
import type { Payload } from "./payloads/index.js";
import { errorTypes, finalities, type ErrorType, type EventKind, type ScopeDimension } from "./vocabulary.js";

export type ErrorEntry = ErrorLogReceipt["errors"][number];
export type RetryEntry = RetryManifest["entries"][number];

/**
 * Two numbers an entry, errors and retries in one list in `seq` order. An error is itself, packed, and the error that
 * its failed try was an answer to (0 for none) beside a fingerprint of what failed. A retry is its negative `seq`, and the distance to the error it answers
 * beside a fingerprint of the rest.
 */
const width = 2;
const fingerprintSpan = 2 ** 22;
const mostNamed = 2 ** 30;

/** An entry but for its place. Labels hold no line break and an upstream is never empty, so no two entries read alike. */
function textOf({ operation, upstream, attempt, delayMs, outcome }: Omit<RetryEntry, "seq" | "reason">): string {
  return `${operation}\n${upstream ?? ""}\n${attempt}\n${delayMs}\n${outcome}`;
}

/**
 * FNV-1a over the text of an entry. It only says which entry of a manifest differs: whether one does, which an agent
 * could hide behind a collision, is the running digest's to say.
 */
function fingerprint(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 10;
}

/** An answer that is no answer (to itself or to what came later) packs like none that a log can hold. */
function packAnswer({ seq, reason }: RetryEntry, text: string): number {
  return (seq - reason) * fingerprintSpan + fingerprint(text);
}

/** What failed, and where. */
function placeOf({ operation, upstream }: Pick<Payload<"error">, "operation" | "upstream">): string {
  return `${operation}\n${upstream ?? ""}`;
}

/** SHA-256 over all retries so far, each after the digest of those before it. */
function digestWith(before: string, { seq, reason }: RetryEntry, text: string): string {
  return sha256Text(`${before}\n${seq}\n${reason}\n${text}`);
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
  #entries: number[] = [];
  #retryDigest = "";
  #used = 0;

  add(seq: number, kind: EventKind, payload: unknown): void {
    this.count += 1;
    this.byKind[kind] = (this.byKind[kind] ?? 0) + 1;
    if (kind === "error") this.#addError(seq, payload as Payload<"error">);
    else if (kind === "retry") this.#addRetry(seq, payload as Payload<"retry">);
  }

  get retryCount(): number {
    return this.byKind.retry ?? 0;
  }

  get errorCount(): number {
    return this.byKind.error ?? 0;
  }

  /** Every error in order, with `recovered` as the retries so far make it. */
  errors(): ErrorEntry[] {
    const errors: ErrorEntry[] = [];
    for (let i = 0; i < this.#used; i += width) {
      const packed = this.#entries[i] as number;
      if (packed > 0) errors.push(unpackError(packed));
    }
    return errors;
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
    const all: number[] = [];
    let digest = "";
    for (let i = 0; i < this.#used; i += width) {
      const seq = -(this.#entries[i] as number);
      if (seq < 0) continue;
      all.push(seq);
      const entry = listed.get(seq);
      const text = entry === undefined ? "" : textOf(entry);
      if (entry !== undefined) digest = digestWith(digest, entry, text);
      if (entry === undefined || packAnswer(entry, text) !== this.#entries[i + 1]) missing.push(seq);
    }
    // A lie that was made to collide is known by the digest, though not which entry it is.
    return missing.length === 0 && digest !== this.#retryDigest ? all : missing;
  }

  /** `seq` of every error that some retry answers. */
  retriedErrors(): Set<number> {
    const retried = new Set<number>();
    for (let i = 0; i < this.#used; i += width) {
      const seq = -(this.#entries[i] as number);
      if (seq > 0) retried.add(seq - Math.floor((this.#entries[i + 1] as number) / fingerprintSpan));
    }
    return retried;
  }

  /**
   * An error by its number, with the errors of the tries before it, the first one first; undefined if there is none.
   *
   * @param most how many tries before it are looked up, from the last one back
   */
  errorAt(seq: number, most: number): (ErrorEntry & { readonly reasons: readonly number[] }) | undefined {
    let index = this.#indexOf(seq);
    if (index < 0) return undefined;
    const entry = unpackError(this.#entries[index] as number);
    const reasons: number[] = [];
    let last = seq;
    while (reasons.length < most) {
      const reason = this.#reasonAt(index);
      index = reason < last ? this.#indexOf(reason) : -1;
      if (index < 0) break;
      reasons.unshift(reason);
      last = reason;
    }
    return { ...entry, reasons };
  }

  /** Whether the error of that number is of this operation and upstream. Of two texts in four million it can't tell them apart. */
  failedAt(seq: number, place: Pick<Payload<"error">, "operation" | "upstream">): boolean {
    const index = this.#indexOf(seq);
    return index >= 0 && (this.#entries[index + 1] as number) % fingerprintSpan === fingerprint(placeOf(place));
  }

  #reasonAt(index: number): number {
    return Math.floor((this.#entries[index + 1] as number) / fingerprintSpan);
  }

  #addError(seq: number, payload: Payload<"error">): void {
    const { type, finality, recovered, attempts } = payload;
    const reason = attempts.at(-1)?.reason ?? 0;
    // A number that no chain gets to would not fit beside the fingerprint, and names nothing either way.
    const before = reason < mostNamed ? reason : 0;
    this.#append(
      packError({ seq, type, finality, recovered }),
      before * fingerprintSpan + fingerprint(placeOf(payload)),
    );
  }

  #addRetry(seq: number, payload: Payload<"retry">): void {
    const entry = { seq, ...payload };
    const text = textOf(entry);
    this.#append(-seq, packAnswer(entry, text));
    this.#retryDigest = digestWith(this.#retryDigest, entry, text);
    if (payload.outcome !== "ok") return;
    // A success answers its own error and, step by step, the whole row of failed tries before it.
    let reason = payload.reason;
    while (reason > 0) {
      const index = this.#indexOf(reason);
      if (index < 0) return;
      const packed = this.#entries[index] as number;
      if (packed % 2 === 1) return;
      this.#entries[index] = packed + 1;
      reason = this.#reasonAt(index);
    }
  }

  /** Grows in small steps: a list that grows by itself would take room for as much again. */
  #append(first: number, second: number): void {
    if (this.#used === this.#entries.length) {
      const larger = new Array<number>(this.#used + Math.max(8, (this.#used >> 3) * 2)).fill(0);
      for (let i = 0; i < this.#used; i += 1) larger[i] = this.#entries[i] as number;
      this.#entries = larger;
    }
    this.#entries[this.#used] = first;
    this.#entries[this.#used + 1] = second;
    this.#used += width;
  }

  /** Where an error stands; −1 if there is none of that number. Entries are in `seq` order, so a binary search finds it. */
  #indexOf(seq: number): number {
    let low = 0;
    let high = this.#used / width - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const packed = this.#entries[middle * width] as number;
      const found = packed < 0 ? -packed : Math.floor(packed / 128);
      if (found === seq) return packed < 0 ? -1 : middle * width;
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
