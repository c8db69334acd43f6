import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CandorError, errorCodes, errorTypes, type ErrorCode } from "@candor/contract";
import { toFailure } from "./failure.js";

const coded = (code: string, message = "m"): Error => Object.assign(new TypeError(message), { code });
const named = (name: string): Error => Object.assign(new TypeError("m"), { name });

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

  it("takes the agent's own type first", () => {
    expect(toFailure({ status: 404 }, () => "partial")).toMatchObject({ type: "partial", retryable: false });
    expect(toFailure({ status: 404 }, () => undefined)).toMatchObject({ type: "invalid-input" });
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
    for (const value of [cycle, hostile, never, Symbol("s"), 1n]) expect(toFailure(value).type).toBe("defect");
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true, withBigInt: true }), (value) => {
        const { type, description } = toFailure(value);
        expect(errorTypes).toContain(type);
        expect(typeof description).toBe("string");
      }),
    );
  });
});
