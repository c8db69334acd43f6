/** Retries of a delegation; null is for what is not known. */
export interface RetryBudget {
  readonly retriesAllowed: number | null;
  readonly retriesUsed: number | null;
}

/** A count that can be relied on. */
export function isWhole(count: number | null): count is number {
  return count !== null && Number.isSafeInteger(count) && count >= 0;
}

/** Leave for one more retry. Only a budget that is not spent gives one, so that none is made beyond it (U3). */
export class RetryPermit {
  /** Which retry this is, from 1. */
  readonly number: number;
  readonly allowed: number;
  /** Makes the class one of its own: an object of the same shape is no permit. */
  readonly #issued = true;

  private constructor(number: number, allowed: number) {
    this.number = number;
    this.allowed = allowed;
  }

  /** @returns undefined if the budget is spent or not known */
  static within({ retriesAllowed, retriesUsed }: RetryBudget): RetryPermit | undefined {
    if (!isWhole(retriesAllowed) || !isWhole(retriesUsed) || retriesUsed >= retriesAllowed) return undefined;
    return new RetryPermit(retriesUsed + 1, retriesAllowed);
  }

  /** Whether a value is a permit that was issued here. */
  static isIssued(value: unknown): value is RetryPermit {
    return typeof value === "object" && value !== null && #issued in value;
  }
}
