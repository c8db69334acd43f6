import type { ErrorType } from "@candor/contract";

export interface ServiceErrorOptions {
  /** HTTP status of the answer, when there was one. */
  readonly status?: number;
  /** How long the service asked to be left alone, in milliseconds. */
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

/**
 * A call to one of the demo's services that did not do what was asked. It is the service's trouble
 * and not Candor's, so it is no `CandorError`; `type` is the wire's word for what to do about it.
 */
export class ServiceError extends Error {
  readonly type: ErrorType;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(type: ErrorType, message: string, options: ServiceErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "ServiceError";
    this.type = type;
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
  }
}
