import { isCandorError, type CandorError } from "@candor/contract";

/** True for trouble with the server that ends by itself, or that an operator ends: it is waited out, not given up. */
export function isPassing(error: unknown): error is CandorError {
  return isCandorError(error, "server-unreachable", "server-failed", "publish-unconfirmed", "store-full");
}
