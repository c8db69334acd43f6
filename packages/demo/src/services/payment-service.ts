import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { jsonOf } from "./http-client.js";
import { bodyOf, pathOf, sendJson, serveLocally, type LocalService } from "./http-server.js";
import { fileBook, memoryBook, type BookEntry, type PaymentBook } from "./payment-book.js";
import {
  isSameOrder,
  keyHeader,
  keyPattern,
  paymentOrderSchema,
  type Book,
  type Payment,
  type PaymentOrder,
  type PostRecord,
} from "./payment.js";

export interface PaymentServiceOptions {
  /** 0, the default, takes a free one. */
  readonly port?: number;
  /** Time from acceptance to booking, in milliseconds; 0 by default. */
  readonly latencyMs?: number;
  /** File of the book. Without it the book is gone with the process. */
  readonly bookFile?: string;
  /** Recipients whose payments are accepted and then declined. */
  readonly declines?: readonly string[];
  /** Called after each entry that was written to the book. */
  readonly onEntry?: (entry: BookEntry) => void;
  /** What an accepted payment waits for before it is settled, instead of `latencyMs`. */
  readonly transfer?: (payment: Payment, signal: AbortSignal) => Promise<void>;
}

export interface PaymentService extends LocalService {
  /** The truth; also at `GET /book`. */
  book(): Book;
}

const maxBodyBytes = 16 * 1024;
const statusOf: Readonly<Record<Payment["state"], number>> = { "in-flight": 202, booked: 200, declined: 402 };

/**
 * A payment service that books exactly one payment for each key. `POST /payments` with the header
 * `Idempotency-Key` accepts a payment, writes it to the book and answers once it is settled: a
 * caller that leaves meanwhile stops nothing. The same key and order get the first result (200, or 402
 * when declined), the same key with another order 409. `GET /payments/KEY` tells the state (202
 * while in flight), `GET /book` everything. With `bookFile` a service that was killed goes on where
 * it was: what was accepted is settled after the restart.
 *
 * @throws CandorError `port-taken`; `bad-file` or `folder-not-writable` for the book's file.
 */
export async function startPaymentService(options: PaymentServiceOptions = {}): Promise<PaymentService> {
  const book: PaymentBook = options.bookFile === undefined ? memoryBook() : fileBook(options.bookFile);
  const desk = paymentDesk(book, options);
  try {
    const service = await serveLocally((request, response) => route(desk, request, response), options.port);
    // Only a service that has its port moves money.
    desk.resume();
    let closed: Promise<void> | undefined;
    const close = async (): Promise<void> => {
      await service.close();
      await desk.close();
    };
    return { ...service, book: desk.book, close: () => (closed ??= close()) };
  } catch (error) {
    book.close();
    throw error;
  }
}

interface PaymentDesk {
  readonly find: (key: string) => Payment | undefined;
  /** Accepts a payment, or finds the one that has the key. Undefined when that one is another order. */
  readonly post: (
    key: string,
    order: PaymentOrder,
  ) => { readonly isNew: boolean; readonly settled: Promise<Payment> } | undefined;
  readonly noteInvalid: (key: string) => void;
  readonly book: () => Book;
  readonly resume: () => void;
  readonly close: () => Promise<void>;
}

function paymentDesk(book: PaymentBook, options: PaymentServiceOptions): PaymentDesk {
  const { declines = [], latencyMs = 0, onEntry } = options;
  const transfer = options.transfer ?? ((_payment, signal) => delay(latencyMs, undefined, { signal }));
  const closing = new AbortController();
  const closed = once(closing.signal, "abort");
  const settlements = new Map<string, Promise<Payment>>();
  const posts: PostRecord[] = [];

  const find = (key: string): Payment | undefined => book.payments().get(key);
  const append = (entry: BookEntry): void => {
    book.append(entry);
    onEntry?.(entry);
  };
  const note = (key: string, result: PostRecord["result"]): void => {
    posts.push({ number: posts.length + 1, key, result, atMs: Date.now() });
  };

  const settle = async (payment: Payment): Promise<Payment> => {
    // A transfer that does not listen to the signal must not keep the service from closing.
    await Promise.race([transfer(payment, closing.signal), closed]);
    closing.signal.throwIfAborted();
    const state = declines.includes(payment.recipient) ? "declined" : "booked";
    append({ entry: "settled", key: payment.key, state, atMs: Date.now() });
    return find(payment.key) ?? payment;
  };
  const startSettling = (payment: Payment): Promise<Payment> => {
    const settled = settle(payment);
    settlements.set(payment.key, settled);
    // Nobody may be waiting any more; whoever is gets the rejection from the promise itself.
    settled.catch(() => undefined);
    return settled;
  };

  return {
    find,
    post: (key, order) => {
      const known = find(key);
      if (known === undefined) {
        note(key, "accepted");
        const payment: Payment = { id: randomUUID(), key, ...order, state: "in-flight", acceptedAtMs: Date.now() };
        append({ entry: "accepted", payment });
        return { isNew: true, settled: startSettling(payment) };
      }
      const isSame = isSameOrder(known, order);
      note(key, isSame ? "repeated" : "conflict");
      return isSame ? { isNew: false, settled: settlements.get(key) ?? Promise.resolve(known) } : undefined;
    },
    noteInvalid: (key) => {
      note(key, "invalid");
    },
    book: () => ({ payments: [...book.payments().values()], posts: [...posts] }),
    resume: () => {
      for (const payment of book.payments().values()) {
        if (payment.state === "in-flight") void startSettling(payment);
      }
    },
    close: async () => {
      closing.abort();
      await Promise.allSettled(settlements.values());
      book.close();
    },
  };
}

async function route(desk: PaymentDesk, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = pathOf(request) ?? [];
  const [place, key] = path;
  if (request.method === "POST" && place === "payments" && path.length === 1) {
    await accept(desk, request, response);
  } else if (request.method === "GET" && place === "payments" && key !== undefined && path.length === 2) {
    const payment = desk.find(key);
    if (payment === undefined) sendJson(response, 404, { error: "no payment has this key" });
    else sendJson(response, payment.state === "in-flight" ? 202 : 200, payment);
  } else if (request.method === "GET" && place === "book" && path.length === 1) {
    sendJson(response, 200, desk.book());
  } else {
    sendJson(response, 404, { error: "not a resource of this service" });
  }
}

async function accept(desk: PaymentDesk, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const header = request.headers[keyHeader];
  const key = typeof header === "string" && keyPattern.test(header) ? header : undefined;
  const body = await bodyOf(request, maxBodyBytes);
  const order = paymentOrderSchema.safeParse(body === undefined ? undefined : jsonOf(body));
  if (key === undefined || !order.success) {
    desk.noteInvalid(key ?? "");
    const error = order.error?.issues.map(({ message, path }) => `${path.join(".")}: ${message}`).join("; ");
    sendJson(response, body === undefined ? 413 : 400, {
      error: key === undefined ? `header ${keyHeader} is missing or bad` : error,
    });
    return;
  }
  const posted = desk.post(key, order.data);
  if (posted === undefined) {
    sendJson(response, 409, { error: "this key has another order" });
    return;
  }
  const payment = await posted.settled;
  const isFirst = posted.isNew && payment.state === "booked";
  sendJson(response, isFirst ? 201 : statusOf[payment.state], payment);
}
