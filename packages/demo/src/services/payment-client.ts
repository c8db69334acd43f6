import type { ErrorType } from "@candor/contract";
import { exchange, jsonOf, type HttpOutcome } from "./http-client.js";
import {
  bookSchema,
  keyHeader,
  keyPattern,
  paymentSchema,
  type Book,
  type Payment,
  type PaymentOrder,
} from "./payment.js";
import { ServiceError } from "./service-error.js";

export interface PayRequest extends PaymentOrder {
  readonly idempotencyKey: string;
  readonly signal?: AbortSignal;
  /** Time for the whole call, in milliseconds; 10 seconds by default. */
  readonly timeoutMs?: number;
}

/** Statuses after which it is certain that this call moved no money. Every other failure is in doubt. */
const certainRefusals: Readonly<Record<number, ErrorType>> = {
  400: "invalid-input",
  402: "denied",
  404: "invalid-input",
  409: "conflict",
  413: "invalid-input",
  503: "unavailable",
};

/**
 * Pays, once, and returns the booked payment; with the same key and order again it returns the first result.
 *
 * @throws ServiceError `in-doubt` when the request left and no answer came (time-out, reset, abort):
 * the money may have moved, and `findPayment` tells. `denied` (declined), `conflict` (the key has
 * another order), `invalid-input`, `unavailable` (nothing was sent): no money moved.
 * @throws the reason of `signal` when it was aborted before anything was sent.
 */
export async function pay(url: string, request: PayRequest): Promise<Payment> {
  const { amount, currency, idempotencyKey, recipient, signal, timeoutMs = 10_000 } = request;
  if (!keyPattern.test(idempotencyKey)) {
    throw new ServiceError("invalid-input", "payment: the idempotency key is not 1–255 printable ASCII characters");
  }
  const outcome = await exchange({
    method: "POST",
    url: `${url}/payments`,
    headers: { "content-type": "application/json", [keyHeader]: idempotencyKey },
    body: JSON.stringify({ amount, currency, recipient } satisfies PaymentOrder),
    signal,
    timeoutMs,
  });
  if (outcome.ok) return paidOrThrow(idempotencyKey, outcome);
  const what = `payment ${idempotencyKey}`;
  if (outcome.sent) {
    const message = `${what}: sent, but ${outcome.failure} before an answer came; look the key up`;
    throw new ServiceError("in-doubt", message, { cause: outcome.cause });
  }
  if (outcome.failure === "aborted") throw outcome.cause;
  throw new ServiceError("unavailable", `${what}: not sent (${outcome.failure})`, { cause: outcome.cause });
}

function paidOrThrow(key: string, { body, status }: HttpOutcome & { ok: true }): Payment {
  const refusal = certainRefusals[status];
  if (refusal !== undefined) throw new ServiceError(refusal, `payment ${key}: status ${status}`, { status });
  const parsed = paymentSchema.safeParse(jsonOf(body));
  if (parsed.success && (status === 200 || status === 201)) return parsed.data;
  throw new ServiceError("in-doubt", `payment ${key}: answer with status ${status} tells nothing; look the key up`, {
    status,
  });
}

/**
 * The payment that has a key, in whatever state, or undefined when the service never accepted one.
 *
 * @throws ServiceError `unavailable` when the service does not tell.
 */
export async function findPayment(url: string, key: string, signal?: AbortSignal): Promise<Payment | undefined> {
  const outcome = await get(`${url}/payments/${encodeURIComponent(key)}`, signal);
  if (outcome?.status === 404) return undefined;
  const parsed = paymentSchema.safeParse(outcome === undefined ? undefined : jsonOf(outcome.body));
  if (!parsed.success) throw new ServiceError("unavailable", `payment ${key}: the service does not tell its state`);
  return parsed.data;
}

/**
 * The whole book of a payment service: what was paid, and which requests it got since it started.
 *
 * @throws ServiceError `unavailable` when the service does not tell.
 */
export async function readPaymentBook(url: string, signal?: AbortSignal): Promise<Book> {
  const outcome = await get(`${url}/book`, signal);
  const parsed = bookSchema.safeParse(outcome === undefined ? undefined : jsonOf(outcome.body));
  if (!parsed.success) throw new ServiceError("unavailable", `payments: no book at ${url}`);
  return parsed.data;
}

async function get(url: string, signal: AbortSignal | undefined): Promise<(HttpOutcome & { ok: true }) | undefined> {
  const outcome = await exchange({ method: "GET", url, signal, timeoutMs: 5000 });
  if (outcome.ok) return outcome;
  if (outcome.failure === "aborted") throw outcome.cause;
  return undefined;
}
