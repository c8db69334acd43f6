import type { ErrorType } from "@candor/contract";
import { exchange, jsonOf, type HttpOutcome } from "./http-client.js";
import { callerHeader, inventoryBookSchema, itemSchema, type Item, type LookupRecord } from "./inventory.js";
import { ServiceError } from "./service-error.js";

export interface FetchItemOptions {
  /** Time for one lookup, in milliseconds. */
  readonly timeoutMs?: number;
  /** Name under which the service keeps count of this caller's lookups. */
  readonly caller?: string;
}

const typeOfStatus: Readonly<Record<number, ErrorType>> = {
  400: "invalid-input",
  404: "invalid-input",
  429: "transient",
};

/**
 * Looks one item up, once: retrying is the caller's business.
 *
 * @throws ServiceError `transient` (reset, time-out, throttled with `retryAfterMs`, broken answer),
 * `unavailable` (503, nobody listens), `invalid-input` (no such item).
 * @throws the reason of `signal` when it is aborted.
 */
export async function fetchItem(
  url: string,
  item: string,
  signal?: AbortSignal,
  options: FetchItemOptions = {},
): Promise<Item> {
  const { caller, timeoutMs = 500 } = options;
  const outcome = await exchange({
    method: "GET",
    url: `${url}/items/${encodeURIComponent(item)}`,
    headers: caller === undefined ? {} : { [callerHeader]: caller },
    signal,
    timeoutMs,
  });
  if (!outcome.ok) {
    if (outcome.failure === "aborted") throw outcome.cause;
    const type = outcome.failure === "refused" ? "unavailable" : "transient";
    throw new ServiceError(type, `inventory: lookup of ${item}: ${lost[outcome.failure]}`, { cause: outcome.cause });
  }
  if (outcome.status !== 200) throw refused(item, outcome);
  const parsed = itemSchema.safeParse(jsonOf(outcome.body));
  if (!parsed.success) {
    throw new ServiceError("transient", `inventory: lookup of ${item}: the answer is broken`, {
      status: outcome.status,
      cause: parsed.error,
    });
  }
  return parsed.data;
}

const lost = { refused: "nobody listens", broken: "the connection broke", timeout: "no answer in time" } as const;

function refused(item: string, { headers, status }: HttpOutcome & { ok: true }): ServiceError {
  const retryAfterMs = retryAfter(headers);
  const type = typeOfStatus[status] ?? "unavailable";
  return new ServiceError(type, `inventory: lookup of ${item}: status ${status}`, {
    status,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

/** Milliseconds to wait: the finer header if the service sends it, else whole seconds (RFC 9110, 10.2.3). */
function retryAfter(headers: Readonly<Record<string, string | string[] | undefined>>): number | undefined {
  const fine = wholeNumber(headers["retry-after-ms"]);
  const coarse = wholeNumber(headers["retry-after"]);
  return fine ?? (coarse === undefined ? undefined : coarse * 1000);
}

function wholeNumber(header: string | string[] | undefined): number | undefined {
  return typeof header === "string" && /^\d{1,9}$/.test(header) ? Number(header) : undefined;
}

/**
 * Every lookup an inventory service got, as it tells itself.
 *
 * @throws ServiceError `unavailable` when it does not answer.
 */
export async function readInventoryBook(url: string, signal?: AbortSignal): Promise<readonly LookupRecord[]> {
  const outcome = await exchange({ method: "GET", url: `${url}/book`, signal, timeoutMs: 5000 });
  if (!outcome.ok && outcome.failure === "aborted") throw outcome.cause;
  const parsed = inventoryBookSchema.safeParse(outcome.ok ? jsonOf(outcome.body) : undefined);
  if (!parsed.success) throw new ServiceError("unavailable", `inventory: no book at ${url}`, { cause: outcome });
  return parsed.data.lookups;
}
