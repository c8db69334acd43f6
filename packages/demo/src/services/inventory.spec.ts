import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { failureScript, lookupFailures, type LookupFailure } from "./failure-script.js";
import type { LocalService } from "./http-server.js";
import { fetchItem, readInventoryBook, type FetchItemOptions } from "./inventory-client.js";
import { defaultStock, startInventoryService, type InventoryOptions } from "./inventory-service.js";

/** Waits for a condition rather than for a time, however busy the machine is. */
const eventually = <T>(read: () => T | Promise<T>) => expect.poll(read, { timeout: 10_000, interval: 10 });

const running: LocalService[] = [];
const start = async (options: InventoryOptions) => {
  const service = await startInventoryService(options);
  running.push(service);
  return service;
};
afterEach(async () => {
  await Promise.all(running.splice(0).map((service) => service.close()));
});

/** Outcome of one lookup as a word: the quantity, or the error's type and status. */
const tryItem = async (url: string, item: string, options: FetchItemOptions = {}): Promise<unknown> => {
  try {
    return (await fetchItem(url, item, undefined, { timeoutMs: 5000, ...options })).quantity;
  } catch (error) {
    const { retryAfterMs, status, type } = error as { type?: string; status?: number; retryAfterMs?: number };
    return [type, status, retryAfterMs].filter((part) => part !== undefined).join(" ");
  }
};

describe("a lookup that fails", () => {
  const whatTheCallerSees: Readonly<Record<LookupFailure, string>> = {
    unavailable: "unavailable 503",
    throttled: "transient 429 30",
    reset: "transient",
    hang: "transient",
    truncated: "transient 200",
  };

  test.each(lookupFailures)("%s, then succeeds", async (failure) => {
    const service = await start({ stock: { mug: 3 }, script: { mug: [failure] }, retryAfterMs: 30 });
    const timeoutMs = failure === "hang" ? 100 : 5000;
    expect(await tryItem(service.url, "mug", { timeoutMs })).toBe(whatTheCallerSees[failure]);
    expect(await tryItem(service.url, "mug")).toBe(3);
    expect(service.book().map(({ answer, attempt }) => [attempt, answer])).toEqual([
      [1, failure],
      [2, "ok"],
    ]);
  });

  test("asks for nothing twice by itself: the book has one entry for each call", async () => {
    const service = await start({ stock: { mug: 3 }, script: { mug: ["reset", "reset", "unavailable", "hang"] } });
    for (let call = 0; call < 4; call += 1) await tryItem(service.url, "mug", { timeoutMs: 500 });
    expect(service.book().map(({ answer }) => answer)).toEqual(["reset", "reset", "unavailable", "hang"]);
  });

  test("an item that does not exist is wrong input", async () => {
    const service = await start({ stock: {} });
    expect(await tryItem(service.url, "Zoë/../?&%")).toBe("invalid-input 404");
    expect(await tryItem(service.url, "__proto__")).toBe("invalid-input 404");
    expect(service.book().map(({ answer, item }) => [item, answer])).toEqual([
      ["Zoë/../?&%", "unknown-item"],
      ["__proto__", "unknown-item"],
    ]);
  });

  test("a service that is gone is unavailable", async () => {
    const service = await start({});
    await service.close();
    expect(await tryItem(service.url, "MUG-0001")).toBe("unavailable");
    await expect(readInventoryBook(service.url)).rejects.toMatchObject({ type: "unavailable" });
  });
});

describe("stopping", () => {
  test("an abort ends a lookup that hangs, with the signal's reason", async () => {
    const service = await start({ stock: { mug: 3 }, script: { mug: ["hang"] } });
    const recall = new AbortController();
    const reason = new DOMException("recalled", "AbortError");
    const lookup = fetchItem(service.url, "mug", recall.signal, { timeoutMs: 60_000 });
    await eventually(() => service.book().length).toBe(1);
    recall.abort(reason);
    await expect(lookup).rejects.toBe(reason);
  });

  test("after an abort nothing is asked", async () => {
    const service = await start({});
    const reason = new DOMException("recalled", "AbortError");
    await expect(fetchItem(service.url, "MUG-0001", AbortSignal.abort(reason))).rejects.toBe(reason);
    expect(service.book()).toEqual([]);
  });

  test("closing ends lookups that hang", async () => {
    const service = await start({ stock: { mug: 3 }, script: { mug: ["hang"] } });
    const lookup = tryItem(service.url, "mug", { timeoutMs: 60_000 });
    await eventually(() => service.book().length).toBe(1);
    await service.close();
    expect(await lookup).toBe("transient");
  });
});

describe("the script of failures", () => {
  test("starts anew for each caller, whatever the others do", async () => {
    const service = await start({ stock: { mug: 3 }, script: { mug: ["unavailable"] } });
    const callers = ["fetcher", "hider"];
    const first = await Promise.all(callers.map((caller) => tryItem(service.url, "mug", { caller })));
    const second = await Promise.all(callers.map((caller) => tryItem(service.url, "mug", { caller })));
    expect([first, second]).toEqual([
      ["unavailable 503", "unavailable 503"],
      [3, 3],
    ]);
    const book = await readInventoryBook(service.url);
    expect(book).toEqual(service.book());
    expect(book.filter(({ caller }) => caller === "hider")).toHaveLength(2);
  });

  test("made from the default seed holds items that fail and items that do not", () => {
    const failures = Object.values(failureScript("candor", Object.keys(defaultStock)));
    expect(failures.some((of) => of.length === 0)).toBe(true);
    expect(failures.some((of) => of.length > 1)).toBe(true);
  });

  test("depends on seed and item alone and keeps to the limit", () => {
    fc.assert(
      fc.property(fc.string(), fc.uniqueArray(fc.string({ minLength: 1 })), fc.nat({ max: 8 }), (seed, items, max) => {
        const script = failureScript(seed, items, max);
        for (const item of items) {
          const failures = Object.getOwnPropertyDescriptor(script, item)?.value as readonly LookupFailure[];
          expect(failures.length).toBeLessThanOrEqual(max);
          expect(failures).toEqual(Object.getOwnPropertyDescriptor(failureScript(seed, [item], max), item)?.value);
        }
      }),
    );
  });

  test("another seed is another script", () => {
    const items = Object.keys(defaultStock);
    expect(failureScript("a", items)).not.toEqual(failureScript("b", items));
  });
});

test("a port that is taken is a typed error", async () => {
  const { port } = new URL((await start({})).url);
  await expect(startInventoryService({ port: Number(port) })).rejects.toMatchObject({ code: "port-taken" });
});
