import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { failureScript } from "./failure-script.js";
import { fetchItem, readInventoryBook } from "./inventory-client.js";
import { defaultStock } from "./inventory-service.js";
import { findPayment, pay, readPaymentBook } from "./payment-client.js";
import { spawnService, type ServiceName, type SpawnedService, type SpawnOptions } from "./spawn-service.js";

/** Processes run the built output, which `pnpm verify` makes first. */
const built = new URL("../../dist/services/", import.meta.url);
const order = { amount: 900, currency: "EUR", recipient: "supplier-7" } as const;

/** Waits for a condition rather than for a time, however busy the machine is. */
const eventually = <T>(read: () => T | Promise<T>) => expect.poll(read, { timeout: 10_000, interval: 10 });

let folder: string;
const running: SpawnedService[] = [];
const start = async (name: ServiceName, options: SpawnOptions = {}): Promise<SpawnedService> => {
  const service = await spawnService(name, options, built);
  running.push(service);
  return service;
};
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "services-"));
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((service) => service.stop("SIGKILL")));
  await rm(folder, { recursive: true });
});

describe("services as processes of their own", { timeout: 30_000 }, () => {
  test("the inventory tells its address and fails as its seed says", async () => {
    const { url } = await start("inventory", { args: ["--seed", "spring", "--retry-after-ms", "5"] });
    const script = failureScript("spring", Object.keys(defaultStock));
    const quantities = await Promise.all(
      Object.entries(script).map(async ([item, failures]) => {
        const attempts = [...failures, "ok"].map(() => fetchItem(url, item, undefined, { timeoutMs: 2000 }));
        const results = await Promise.allSettled(attempts);
        return [item, results.flatMap((result) => (result.status === "fulfilled" ? result.value.quantity : []))];
      }),
    );
    expect(quantities).toEqual(Object.entries(defaultStock).map(([item, quantity]) => [item, [quantity]]));
    const lookups = await readInventoryBook(url);
    for (const [item, failures] of Object.entries(script)) {
      expect(lookups.filter((lookup) => lookup.item === item).map(({ answer }) => answer)).toEqual([...failures, "ok"]);
    }
  });

  test("a service ends when the process that started it is killed", async () => {
    const module = new URL("spawn-service.js", built).href;
    const script = `const { spawnService } = await import(${JSON.stringify(module)});
      console.log((await spawnService("payment")).url);`;
    const parent = spawn(process.execPath, ["--input-type=module", "--eval", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = (await once(parent.stdout, "data")) as [Buffer];
    const url = line.toString("utf8").trim();
    expect((await readPaymentBook(url)).payments).toEqual([]);
    parent.kill("SIGKILL");
    await expect
      .poll(() =>
        readPaymentBook(url).then(
          () => "there",
          () => "gone",
        ),
      )
      .toBe("gone");
  });

  test("a payment service that is killed in mid-payment has booked it exactly once after the restart", async () => {
    const bookFile = join(folder, "book.jsonl");
    let accepted: () => void = () => undefined;
    const isAccepted = new Promise<void>((resolve) => {
      accepted = resolve;
    });
    const first = await start("payment", {
      args: ["--book", bookFile, "--latency-ms", "60000"],
      onLine: () => {
        accepted();
      },
    });
    const paying = expect(pay(first.url, { ...order, idempotencyKey: "k1" })).rejects.toMatchObject({
      type: "in-doubt",
    });
    await isAccepted;
    await first.stop("SIGKILL");
    await paying;

    const second = await start("payment", { args: ["--book", bookFile, "--port", new URL(first.url).port] });
    expect(second.url).toBe(first.url);
    await eventually(async () => (await findPayment(second.url, "k1"))?.state).toBe("booked");
    await pay(second.url, { ...order, idempotencyKey: "k1" });
    expect((await readPaymentBook(second.url)).payments).toMatchObject([{ ...order, key: "k1", state: "booked" }]);
  });

  test("every entry of the book is a line on standard output, and declined recipients are declined", async () => {
    const lines: unknown[] = [];
    const { url } = await start("payment", {
      args: ["--decline", "a", "--decline", "b"],
      onLine: (line) => lines.push(line),
    });
    for (const recipient of ["a", "b"]) {
      await expect(pay(url, { ...order, recipient, idempotencyKey: recipient })).rejects.toMatchObject({
        type: "denied",
      });
    }
    await expect
      .poll(() => lines)
      .toMatchObject([
        { entry: "accepted", payment: { key: "a" } },
        { entry: "settled", key: "a", state: "declined" },
        { entry: "accepted", payment: { key: "b" } },
        { entry: "settled", key: "b", state: "declined" },
      ]);
  });

  test("SIGTERM ends one at once, payments in flight or not", async () => {
    const service = await start("payment", { args: ["--latency-ms", "60000"] });
    const paying = expect(pay(service.url, { ...order, idempotencyKey: "k1" })).rejects.toMatchObject({
      type: "in-doubt",
    });
    await eventually(async () => (await readPaymentBook(service.url)).payments.length).toBe(1);
    await service.stop();
    await paying;
  });

  test.each([
    ["a flag nobody knows", ["--colour", "red"], "bad-argument"],
    ["a number that is none", ["--latency-ms", "soon"], "bad-argument"],
    ["a book in a folder that is not there", ["--book", "/nowhere/at/all/book.jsonl"], "folder-not-writable"],
  ])("%s: the start fails with what the service said", async (_name, args, code) => {
    await expect(spawnService("payment", { args }, built)).rejects.toMatchObject({
      code: "server-failed",
      message: expect.stringContaining(code) as string,
    });
  });

  test("a port that is taken: the start fails with what the service said", async () => {
    const { url } = await start("payment");
    await expect(spawnService("inventory", { args: ["--port", new URL(url).port] }, built)).rejects.toMatchObject({
      message: expect.stringContaining("port-taken") as string,
    });
  });
});
