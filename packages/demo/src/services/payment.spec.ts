import { appendFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { exchange } from "./http-client.js";
import { findPayment, pay, readPaymentBook, type PayRequest } from "./payment-client.js";
import { startPaymentService, type PaymentService, type PaymentServiceOptions } from "./payment-service.js";

/** Waits for a condition rather than for a time, however busy the machine is. */
const eventually = <T>(read: () => T | Promise<T>) => expect.poll(read, { timeout: 10_000, interval: 10 });

const running: PaymentService[] = [];
const start = async (options: PaymentServiceOptions = {}): Promise<PaymentService> => {
  const service = await startPaymentService(options);
  running.push(service);
  return service;
};
afterEach(async () => {
  await Promise.all(running.splice(0).map((service) => service.close()));
});

const order = { amount: 1250, currency: "EUR", recipient: "supplier-7" } as const;
const request = (idempotencyKey: string, rest: Partial<PayRequest> = {}): PayRequest => ({
  ...order,
  idempotencyKey,
  ...rest,
});

/** A transfer that stays in flight until it is let go. */
const gate = () => {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, transfer: () => opened };
};
const states = (service: PaymentService): readonly string[] =>
  service.book().payments.map(({ key, state }) => `${key} ${state}`);

describe("a payment", () => {
  test("is booked once and found by its key", async () => {
    const service = await start();
    const payment = await pay(service.url, request("k1"));
    expect(payment).toMatchObject({ ...order, key: "k1", state: "booked" });
    expect(await findPayment(service.url, "k1")).toEqual(payment);
    expect(await findPayment(service.url, "k2")).toBeUndefined();
    expect(await readPaymentBook(service.url)).toEqual(service.book());
    expect(states(service)).toEqual(["k1 booked"]);
  });

  test("with the same key and order again is the first one", async () => {
    const service = await start();
    const first = await pay(service.url, request("k1"));
    expect(await pay(service.url, request("k1"))).toEqual(first);
    expect(states(service)).toEqual(["k1 booked"]);
    expect(service.book().posts.map(({ result }) => result)).toEqual(["accepted", "repeated"]);
  });

  test.each([{ amount: 1251 }, { currency: "USD" }, { recipient: "supplier-8" }])(
    "with the same key and another order (%j) is a conflict",
    async (other) => {
      const service = await start();
      await pay(service.url, request("k1"));
      await expect(pay(service.url, request("k1", other))).rejects.toMatchObject({ type: "conflict", status: 409 });
      expect(service.book().payments).toMatchObject([order]);
    },
  );

  test("asked for many times at once, in flight and after, is one payment", async () => {
    const { open, transfer } = gate();
    const service = await start({ transfer });
    const racers = Array.from({ length: 20 }, () => pay(service.url, request("k1")));
    await eventually(() => service.book().posts.length).toBe(20);
    open();
    const ids = new Set((await Promise.all(racers)).map(({ id }) => id));
    expect(ids.size).toBe(1);
    expect(states(service)).toEqual(["k1 booked"]);
  });

  test("that is declined moves no money, and again is declined again", async () => {
    const service = await start({ declines: ["supplier-7"] });
    for (const round of [1, 2]) {
      await expect(pay(service.url, request("k1")), String(round)).rejects.toMatchObject({
        type: "denied",
        status: 402,
      });
    }
    expect(states(service)).toEqual(["k1 declined"]);
  });

  test("whatever the sequence of keys and orders, each key is booked once, with its first order", async () => {
    const posts = fc.array(fc.record({ key: fc.constantFrom("a", "b", "c"), amount: fc.integer({ min: 1, max: 2 }) }), {
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(posts, async (calls) => {
        const service = await start();
        const firsts = new Map<string, number>();
        for (const { amount, key } of calls) {
          const first = firsts.get(key) ?? amount;
          firsts.set(key, first);
          const paid = pay(service.url, request(key, { amount }));
          if (first === amount) expect((await paid).amount).toBe(first);
          else await expect(paid).rejects.toMatchObject({ type: "conflict" });
        }
        expect(service.book().payments.map(({ amount, key }) => [key, amount])).toEqual([...firsts]);
      }),
      { numRuns: 25 },
    );
  });
});

describe("in flight", () => {
  test("an abort leaves the payment in doubt for the caller, and the look-up tells", async () => {
    const { open, transfer } = gate();
    const service = await start({ transfer });
    const recall = new AbortController();
    const paying = pay(service.url, request("k1", { signal: recall.signal }));
    await eventually(() => states(service)).toEqual(["k1 in-flight"]);
    recall.abort();
    await expect(paying).rejects.toMatchObject({ type: "in-doubt" });
    expect(await findPayment(service.url, "k1")).toMatchObject({ state: "in-flight" });
    open();
    await eventually(async () => (await findPayment(service.url, "k1"))?.state).toBe("booked");
    expect(await pay(service.url, request("k1"))).toMatchObject({ state: "booked" });
    expect(states(service)).toEqual(["k1 booked"]);
  });

  test("no answer in time is in doubt", async () => {
    const service = await start({ transfer: gate().transfer });
    await expect(pay(service.url, request("k1", { timeoutMs: 500 }))).rejects.toMatchObject({ type: "in-doubt" });
    expect(states(service)).toEqual(["k1 in-flight"]);
  });

  test("the latency lies between acceptance and booking", async () => {
    const service = await start({ latencyMs: 40 });
    const { acceptedAtMs, settledAtMs = 0 } = await pay(service.url, request("k1"));
    expect(settledAtMs - acceptedAtMs).toBeGreaterThanOrEqual(38);
  });
});

describe("nothing was sent", () => {
  test("after an abort: no request, and the signal's reason", async () => {
    const service = await start();
    const reason = new DOMException("recalled", "AbortError");
    await expect(pay(service.url, request("k1", { signal: AbortSignal.abort(reason) }))).rejects.toBe(reason);
    expect(service.book()).toEqual({ payments: [], posts: [] });
  });

  test("to a service that is gone: unavailable, not in doubt", async () => {
    const service = await start();
    await service.close();
    await expect(pay(service.url, request("k1"))).rejects.toMatchObject({ type: "unavailable" });
    await expect(findPayment(service.url, "k1")).rejects.toMatchObject({ type: "unavailable" });
    await expect(readPaymentBook(service.url)).rejects.toMatchObject({ type: "unavailable" });
  });
});

describe("bad input", () => {
  test.each([{ amount: 0 }, { amount: 1.5 }, { amount: -3 }, { currency: "euro" }, { recipient: "" }])(
    "%j",
    async (bad) => {
      const service = await start();
      await expect(pay(service.url, request("k1", bad))).rejects.toMatchObject({ type: "invalid-input", status: 400 });
      expect(service.book()).toMatchObject({ payments: [], posts: [{ key: "k1", result: "invalid" }] });
    },
  );

  test.each(["", "two words", "clé", "x".repeat(256), "line\nbreak"])("key %j", async (key) => {
    const service = await start();
    await expect(pay(service.url, request(key))).rejects.toMatchObject({ type: "invalid-input" });
    expect(service.book().payments).toEqual([]);
  });

  test.each([
    ["no key", "/payments", JSON.stringify(order), {}, 400],
    ["no JSON", "/payments", "{", { "idempotency-key": "k" }, 400],
    ["an unknown field", "/payments", JSON.stringify({ ...order, rush: true }), { "idempotency-key": "k" }, 400],
    [
      "too much",
      "/payments",
      JSON.stringify({ ...order, recipient: "x".repeat(100_000) }),
      { "idempotency-key": "k" },
      413,
    ],
    ["another place", "/refunds", "{}", {}, 404],
    ["a broken path", "/%zz", "{}", {}, 404],
  ])("%s", async (_name, path, body, headers, status) => {
    const service = await start();
    const outcome = await exchange({ method: "POST", url: service.url + path, body, headers, timeoutMs: 2000 });
    expect(outcome).toMatchObject({ ok: true, status });
    expect(service.book().payments).toEqual([]);
  });
});

describe("a book in a file", () => {
  let folder: string;
  let bookFile: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "payments-"));
    bookFile = join(folder, "book.jsonl");
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map((service) => service.close()));
    await rm(folder, { recursive: true });
  });

  test("outlives its service, and what was in flight is settled after the restart", async () => {
    const first = await start({
      bookFile,
      transfer: ({ key }) => (key === "k1" ? Promise.resolve() : gate().transfer()),
    });
    const paid = await pay(first.url, request("k1"));
    const paying = pay(first.url, request("k2"));
    await eventually(() => states(first)).toEqual(["k1 booked", "k2 in-flight"]);
    const dropped = expect(paying).rejects.toMatchObject({ type: "in-doubt" });
    void first.close();
    await dropped;

    const second = await start({ bookFile });
    await eventually(() => states(second)).toEqual(["k1 booked", "k2 booked"]);
    expect(await pay(second.url, request("k1"))).toEqual(paid);
    await expect(pay(second.url, request("k1", { amount: 1 }))).rejects.toMatchObject({ type: "conflict" });
  });

  test("with a last line that was cut off is read up to it, and goes on", async () => {
    const first = await start({ bookFile });
    await pay(first.url, request("k1"));
    await first.close();
    await appendFile(bookFile, '{"entry":"accepted","paym');
    const second = await start({ bookFile });
    await pay(second.url, request("k2"));
    await second.close();
    expect(states(await start({ bookFile }))).toEqual(["k1 booked", "k2 booked"]);
    expect((await readFile(bookFile, "utf8")).trimEnd().split("\n")).toHaveLength(4);
  });

  test("with a line that is no entry is refused, with the line's number", async () => {
    const first = await start({ bookFile });
    await pay(first.url, request("k1"));
    await first.close();
    const [accepted = "", settled = ""] = (await readFile(bookFile, "utf8")).split("\n");
    await writeFile(bookFile, `${accepted}\n${settled.slice(1)}\n`);
    await expect(startPaymentService({ bookFile })).rejects.toMatchObject({
      code: "bad-file",
      message: expect.stringContaining("line 2") as string,
    });
  });

  test("in a folder that is not there is a typed error", async () => {
    const missing = join(folder, "missing", "book.jsonl");
    await expect(startPaymentService({ bookFile: missing })).rejects.toMatchObject({ code: "folder-not-writable" });
  });
});
