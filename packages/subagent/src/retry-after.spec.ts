import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toFailure } from "./failure.js";
import { retryAfterOf } from "./retry-after.js";

const nowMs = Date.parse("2026-01-01T00:00:00Z");

describe("F1 Retry-After", () => {
  it.each([
    ["seconds", { headers: { "retry-after": "7" } }, 7_000],
    ["a number, in other letters", { headers: { "Retry-After": 2 } }, 2_000],
    ["a part of a second", { headers: { "retry-after": "0.2505" } }, 251],
    ["a date", { headers: { "retry-after": "Thu, 01 Jan 2026 00:00:05 GMT" } }, 5_000],
    ["a date that is over", { headers: { "retry-after": "Wed, 31 Dec 2025 00:00:00 GMT" } }, 0],
    ["milliseconds before seconds", { headers: { "retry-after": "9", "retry-after-ms": "120" } }, 120],
    ["Headers", { headers: new Headers({ "Retry-After": "3" }) }, 3_000],
    ["a response that is thrown", new Response(null, { status: 429, headers: { "retry-after": "4" } }), 4_000],
    ["the response of an error", { response: { status: 503, headers: new Map([["retry-after", "1"]]) } }, 1_000],
    ["a list, as Node has it", { headers: { "retry-after": ["6", "8"] } }, 6_000],
    ["a cause", new TypeError("wrapped", { cause: { headers: { "retry-after": "2" } } }), 2_000],
    ["more than a week", { headers: { "retry-after": "999999999" } }, 604_800_000],
    ["nonsense", { headers: { "retry-after": "soon" } }, undefined],
    ["less than nothing", { headers: { "retry-after": "-1" } }, undefined],
    ["a short number in words of dates", { headers: { "retry-after": "Mon" } }, undefined],
    ["nothing", {}, undefined],
    ["a string", "retry-after: 3", undefined],
  ])("reads %s", (_, error, waitMs) => {
    expect(retryAfterOf(error, nowMs)).toBe(waitMs);
    expect(toFailure(error, undefined, nowMs).retryAfterMs).toBe(waitMs);
  });

  it("gives a bounded whole number or nothing for any header at all", () => {
    const values = fc.oneof(fc.string(), fc.double(), fc.date().map(String), fc.constant("Infinity"), fc.anything());
    fc.assert(
      fc.property(values, (value) => {
        const waitMs = retryAfterOf({ headers: { "retry-after": value } }, nowMs) ?? 0;
        expect(Number.isInteger(waitMs) && waitMs >= 0 && waitMs <= 604_800_000).toBe(true);
      }),
    );
  });
});
