import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodePayload, encodePayload } from "@candor/contract";
import { scan } from "@candor/ledger";
import { fittingIdentifiers } from "./identifiers.js";

/** What comes back of an effect that is told with these identifiers. The scan is the guard's. */
function told(identifiers: Readonly<Record<string, string>>): unknown {
  const effect = { phase: "committed", intent: "charge", key: "key-1", target: "payments", dispatch: 2 } as const;
  const bytes = encodePayload("effect", { ...effect, identifiers });
  scan(bytes);
  return decodePayload("effect", bytes).identifiers;
}

const halves = "\u{1F600}".repeat(200);
const throwing = { toString: () => { throw new TypeError("no"); } }; // prettier-ignore

describe("F6 identifiers of an effect that has happened", () => {
  it.each<[string, unknown, Record<string, string>]>([
    ["half a character", { a: "x\ud800" }, { a: "x\ufffd" }],
    ["half a character in a name", { "\udc00n": "x" }, { "\ufffdn": "x" }],
    ["a character at the cut", { a: `x${halves}` }, { a: `x${halves.slice(0, 254)}…` }],
    ["what has no text", { a: throwing, b: Object.create(null) as unknown, c: undefined, d: 4n }, { d: "4" }],
    ["a name that decoders refuse", JSON.parse('{"__proto__":"x","b":"y"}'), { b: "y" }],
    ["a getter that throws", { get a() { throw new TypeError("no"); }, b: "y" }, { b: "y" }], // prettier-ignore
    ["nothing", undefined, {}],
    ["null", null, {}],
    ["no object", "payment-1", {}],
  ])("are told as far as they can be: %s", (_, given, expected) => {
    const fitting = fittingIdentifiers(given);
    expect(fitting).toEqual(expected);
    expect(told(fitting)).toEqual(expected);
  });

  it("are sixteen at most, in however many calls they are named; one that is named again is the later", () => {
    let named: Record<string, string> = {};
    for (let i = 0; i < 2_000; i += 1) named = fittingIdentifiers({ [`n${i % 40}`]: `v${i}`.padEnd(256, "x") }, named);
    expect(Object.keys(named)).toHaveLength(16);
    expect(named["n0"]?.slice(0, 5)).toBe("v1960");
    expect(told(named)).toEqual(named);
  });

  it("fit the wire, whatever the effect's code names", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.anything({ withNullPrototype: true, withBigInt: true }), fc.dictionary(fc.string({ unit: "binary" }), fc.string({ unit: "binary", maxLength: 600 }))), // prettier-ignore
        (given) => {
          const fitting = fittingIdentifiers(given);
          expect(told(fitting)).toEqual(fitting);
        },
      ),
    );
  });
});
