import { setTimeout as pause } from "node:timers/promises";
import { errors, type NatsConnection } from "@nats-io/transport-node";
import { CandorError, type ErrorCode } from "@candor/contract";
import { ask } from "./ask.js";

/** What the server answered instead of doing it. */
interface ApiFailure {
  readonly errCode: number;
  readonly description: string;
}

export type ApiAnswer =
  | { readonly ok: true; readonly body: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly failure: ApiFailure };

/** The server's number for "there is no such stream". */
export const streamNotFound = 10059;

/** The server's numbers for "not now": a cluster without leader, or one that has not yet found all its members. */
const passing: ReadonlySet<number> = new Set([10008, 10009, 10005, 10074]);

const failures: Readonly<Record<number, ErrorCode>> = {
  10047: "store-full",
  10028: "store-full",
  10023: "store-full",
  [streamNotFound]: "not-provisioned",
};

/** The error for a request that can't succeed however often it is made; undefined if another attempt may help. */
export function hopeless(cause: unknown, request: string): CandorError | undefined {
  if (cause instanceof errors.ClosedConnectionError || cause instanceof errors.DrainingConnectionError) {
    return new CandorError("connection-closed", `The connection is closed; connect again to request ${request}.`, {
      cause,
    });
  }
  if (cause instanceof errors.RequestError && cause.cause instanceof errors.PermissionViolationError) {
    const message = `This identity may not request ${request}; check which credentials are in use.`;
    return new CandorError("permission-denied", message, { cause });
  }
  return undefined;
}

function read(answer: Readonly<Record<string, unknown>>): ApiAnswer {
  const { error } = answer;
  if (typeof error !== "object" || error === null) return { ok: true, body: answer };
  const { err_code: errCode, description } = error as Readonly<Record<string, unknown>>;
  return { ok: false, failure: { errCode: Number(errCode), description: String(description) } };
}

/**
 * Makes a JetStream request and repeats it, up to `patienceMs`, for as long as the server has no leader to answer it.
 * Only for requests that may be made twice.
 *
 * @param request subject with the API prefix
 * @param attemptMs how long one of the requests waits for its answer
 * @throws CandorError `server-unreachable` if no answer comes, `permission-denied`, `connection-closed`
 */
export async function apiRequest(
  nc: NatsConnection,
  request: string,
  body?: unknown,
  patienceMs = 20_000,
  attemptMs = 5_000,
): Promise<ApiAnswer> {
  const deadline = performance.now() + patienceMs;
  let last: unknown;
  while (performance.now() < deadline) {
    try {
      const message = await ask(nc, request, body === undefined ? "" : JSON.stringify(body), attemptMs);
      const answer = read(message.json<Readonly<Record<string, unknown>>>());
      if (answer.ok || !passing.has(answer.failure.errCode)) return answer;
      last = answer.failure.description;
    } catch (error) {
      const failure = hopeless(error, request);
      if (failure !== undefined) throw failure;
      last = error;
    }
    await pause(50);
  }
  throw new CandorError(
    "server-unreachable",
    `The server did not answer ${request} within ${patienceMs / 1000} s. In a cluster, check that a majority of its members runs.`,
    { cause: last },
  );
}

/** What people can do about some of the server's reasons. */
const advice: Readonly<Record<number, string>> = {
  10026:
    " As many readers are there as it allows: the operator finds them with `nats consumer report` and removes those of nobody; left alone they go after five minutes.",
};

/** True for the error of a request that the server answered, and refused. */
export function isRefusal({ details }: CandorError): boolean {
  return typeof details["errCode"] === "number";
}

/** The error for a request that the server refused. */
export function refusal(failure: ApiFailure, what: string): CandorError {
  return new CandorError(
    failures[failure.errCode] ?? "server-failed",
    `The server refused to ${what}: ${failure.description} (${failure.errCode}).${advice[failure.errCode] ?? ""}`,
    { details: { errCode: failure.errCode } },
  );
}
