import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { CandorError, errorCodes, errorTypes, policySchema, type ErrorCode } from "@candor/contract";
import { toFailure } from "./failure.js";

const coded = (code: string, message = "m"): Error => Object.assign(new TypeError(message), { code });
const named = (name: string): Error => Object.assign(new TypeError("m"), { name });

/** An address at which nobody listens any more. */
async function closedAddress(): Promise<string> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return `http://127.0.0.1:${port}/`;
}

describe("F1 F10 toFailure", () => {
  it.each([
    ["an abort", new DOMException("stop", "AbortError"), "cancelled", true],
    ["a time-out", new DOMException("late", "TimeoutError"), "transient", true],
    ["S6 a 429", { status: 429 }, "transient", false],
    ["S16 a 529", { statusCode: 529 }, "transient", false],
    ["a 503", { status: 503 }, "unavailable", true],
    ["a 500", { response: { status: 500 } }, "transient", true],
    ["a 404", { status: 404 }, "invalid-input", false],
    ["a 401", { status: 401 }, "denied", false],
    ["a 402", { status: 402 }, "over-budget", false],
    ["a 409", { status: 409 }, "conflict", false],
    ["a status that is none", { status: 200 }, "defect", true],
    ["a lost connection", coded("ECONNRESET"), "transient", true],
    ["nobody there", coded("ECONNREFUSED"), "unavailable", false],
    [
      "fetch, whose reason is in its cause",
      new TypeError("fetch failed", { cause: coded("ENOTFOUND") }),
      "unavailable",
      false,
    ],
    ["several at once", new AggregateError([coded("ECONNREFUSED")]), "unavailable", false],
    ["zod", named("ZodError"), "invalid-input", true],
    ["a bug", new TypeError("x is not a function"), "defect", true],
    ["a string", "it broke", "defect", true],
    ["nothing", undefined, "defect", true],
    ["null", null, "defect", true],
    ["a name from the prototype", { name: "constructor", code: "toString" }, "defect", true],
    [
      "a recall, with whose error a call that heeds its signal is cut off",
      new CandorError("recalled", "m"),
      "cancelled",
      true,
    ],
    ["a key in doubt", new CandorError("intent-key-in-doubt", "m"), "in-doubt", true],
  ])("%s", (_, error, type, mayHaveHappened) => {
    expect(toFailure(error)).toMatchObject({ type, mayHaveHappened });
  });

  it.each([
    ["all routes are tried in vain", [coded("ECONNREFUSED"), coded("ENOTFOUND")], "unavailable", false],
    ["one may have happened all the same", [coded("ECONNREFUSED"), coded("ECONNRESET")], "unavailable", true],
    ["one is not to be repeated, wherever it stands", [{ status: 503 }, { status: 401 }], "denied", true],
    ["one is known to nobody", [{ status: 429 }, new TypeError("bug")], "defect", true],
    ["one lies deeper", [new AggregateError([{ status: 409 }])], "conflict", false],
    ["none is there", [], "defect", true],
  ])("takes the gravest of several failures at once: %s", (_, errors, type, mayHaveHappened) => {
    expect(toFailure(new AggregateError(errors))).toMatchObject({ type, mayHaveHappened });
    expect(toFailure(new TypeError("wrapped", { cause: new AggregateError(errors) }))).toMatchObject({ type });
  });

  it("ends on failures that hold each other", () => {
    const errors: unknown[] = [];
    for (let i = 0; i < 16; i += 1) errors.push({ errors });
    expect(toFailure({ errors }).type).toBe("defect");
  });

  it("knows what a parser of zod throws, and what fetch, AbortSignal and JSON.parse do", async () => {
    const thrown = async (run: () => unknown): Promise<unknown> => {
      try {
        return await run();
      } catch (error) {
        return error;
      }
    };
    expect(toFailure(await thrown(() => policySchema.parse({})))).toMatchObject({ type: "invalid-input" });
    const url = await closedAddress();
    expect(toFailure(await thrown(() => fetch(url)))).toMatchObject({ type: "unavailable", mayHaveHappened: false });
    expect(toFailure(await thrown(() => fetch("no address")))).toMatchObject({ type: "invalid-input" });
    expect(toFailure(await thrown(() => fetch(url, { signal: AbortSignal.abort() })))).toMatchObject({
      type: "cancelled",
    });
    const late = AbortSignal.timeout(0);
    await once(late, "abort");
    expect(toFailure(late.reason)).toMatchObject({ type: "transient" });
    expect(toFailure(await thrown(() => JSON.parse("{") as unknown))).toMatchObject({ type: "defect" });
    expect(toFailure(await thrown(() => readFileSync("/no/such/file")))).toMatchObject({ type: "invalid-input" });
  });

  it("takes the agent's own type first", () => {
    expect(toFailure({ status: 404 }, () => "partial")).toMatchObject({ type: "partial", retryable: false });
    expect(toFailure({ status: 404 }, () => undefined)).toMatchObject({ type: "invalid-input" });
  });

  it("a table of the agent's own that fails, or gives what is no type, says nothing", () => {
    const fails = () => { throw new TypeError("no"); }; // prettier-ignore
    expect(toFailure({ status: 404 }, fails)).toMatchObject({ type: "invalid-input" });
    expect(toFailure({ status: 404 }, () => "constructor" as never)).toMatchObject({ type: "invalid-input" });
  });

  it("knows a type for each of our own codes", () => {
    for (const code of Object.keys(errorCodes) as ErrorCode[]) {
      expect(errorTypes).toContain(toFailure(new CandorError(code, "m")).type);
    }
  });

  it("tells the causes, outermost first", () => {
    const error = new CandorError("defect", "outer", { cause: new TypeError("inner") });
    expect(toFailure(error).description).toBe("CandorError: outer ← TypeError: inner");
  });

  it("gives a type and a text for anything at all, hostile objects and cycles included", () => {
    const cycle: { cause?: unknown } = {};
    cycle.cause = cycle;
    const hostile = new Proxy({}, { get: () => { throw new TypeError("no"); } }); // prettier-ignore
    const never = { toString: () => { throw new TypeError("no"); } }; // prettier-ignore
    const closed = new Proxy({}, { getPrototypeOf: () => { throw new TypeError("no"); }, ownKeys: () => { throw new TypeError("no"); } }); // prettier-ignore
    const { proxy: revoked, revoke } = Proxy.revocable({}, {});
    revoke();
    for (const value of [cycle, hostile, closed, revoked, never, Symbol("s"), 1n])
      expect(toFailure(value).type).toBe("defect");
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true, withBigInt: true }), (value) => {
        const { type, description } = toFailure(value);
        expect(errorTypes).toContain(type);
        expect(typeof description).toBe("string");
      }),
    );
  });
});
