import { AsyncLocalStorage } from "node:async_hooks";
import type { Finality, Payload } from "@candor/contract";
import type { CallLayer } from "./call-counts.js";
import type { Failure } from "./failure.js";

/** An earlier try, as an error event lists it. */
export type PriorAttempt = Payload<"error">["attempts"][number];

/** The try in whose course something runs: what fails in it is told with the tries before. */
export interface AttemptScope {
  readonly attempt: number;
  readonly priors: readonly PriorAttempt[];
  /** What the loop will make of a failure: try again, or give up. */
  readonly finalityOf: (failure: Failure) => Finality;
  /** The call that it is a try of; undefined for an effect that is asked for again. */
  readonly layer: CallLayer | undefined;
}

const storage = new AsyncLocalStorage<AttemptScope>();

export function currentAttempt(): AttemptScope | undefined {
  return storage.getStore();
}

export function inAttempt<T>(scope: AttemptScope, run: () => T): T {
  return storage.run(scope, run);
}

/** Finality of a failure that is not tried again. */
export function givenUp(failure: Failure): Finality {
  return failure.retryable ? "exhausted" : failure.given;
}
