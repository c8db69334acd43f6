import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { errorTypes, eventKinds, type EventKind } from "../vocabulary.js";
import { payloadSchemas } from "./index.js";
import { quickCheck } from "./quick-check.js";

/** Makes values that a schema takes, or nearly. */
function near(schema: unknown): fc.Arbitrary<unknown> {
  const { def } = (schema as { _zod: { def: Record<string, unknown> & { type: string } } })._zod;
  switch (def.type) {
    case "object": {
      const shape = def["shape"] as Record<string, unknown>;
      const names = Object.keys(shape);
      const fields = Object.fromEntries(names.map((name) => [name, near(shape[name])]));
      return fc.oneof(
        { weight: 8, arbitrary: fc.record(fields) },
        { weight: 1, arbitrary: fc.record(fields, { requiredKeys: [] }) },
        { weight: 1, arbitrary: fc.record(fields).map((value) => ({ ...value, extra: 1 })) },
      );
    }
    case "array":
      return fc.array(near(def["element"]), { maxLength: 3 });
    case "record":
      return fc.oneof(
        fc.dictionary(near(def["keyType"]).map(String), near(def["valueType"]), { maxKeys: 4 }),
        fc.record(Object.fromEntries(errorTypes.map((type) => [type, near(def["valueType"])]))),
      );
    case "optional":
      return fc.option(near(def["innerType"]), { nil: undefined });
    case "enum":
      return fc.constantFrom<unknown>(...(Object.values(def["entries"] as object) as unknown[]), "unheard-of");
    case "literal":
      return fc.constantFrom(...(def["values"] as unknown[]), 2);
    case "boolean":
      return fc.boolean();
    case "number":
      return fc.oneof(fc.constantFrom(0, 1, 2, 0.5, -1, 1e16, Number.NaN, Number.POSITIVE_INFINITY), fc.nat(2_000));
    case "custom":
      return fc.constantFrom(...[0, 1, 16, 32, 64, 300_000].map((length) => new Uint8Array(length)));
    default:
      return fc.constantFrom("", "a", "r-1", "_run", "zwölf", "line\nbreak", "A".repeat(56), "x".repeat(200), "1.2");
  }
}

const junk = fc.oneof(fc.anything(), fc.constantFrom(null, [], new Uint8Array(32), new Map(), Object.create(null)));

function expectAgreement(kind: EventKind, value: unknown): boolean {
  const quick = quickCheck(payloadSchemas[kind])?.(value) === true;
  if (!quick) return false;
  const parsed = payloadSchemas[kind].safeParse(value);
  expect(parsed.success).toBe(true);
  expect(parsed.data).toEqual(value);
  return true;
}

describe("quick checks", () => {
  it.each(eventKinds)("take nothing for %s that its schema refuses or changes", (kind) => {
    fc.assert(
      fc.property(
        fc.oneof({ weight: 20, arbitrary: near(payloadSchemas[kind]) }, { weight: 1, arbitrary: junk }),
        (value) => {
          expectAgreement(kind, value);
        },
      ),
      { numRuns: 300 },
    );
  });

  it("exist for every kind, and take what is usual", () => {
    for (const kind of eventKinds) expect(quickCheck(payloadSchemas[kind])).toBeTypeOf("function");
    expect(expectAgreement("timer", { timer: "settle", deadlineMs: 5 })).toBe(true);
    expect(
      expectAgreement("retry", {
        operation: "lookup",
        attempt: 2,
        reason: 3,
        delayMs: 0,
        outcome: "ok",
        upstream: "db",
      }),
    ).toBe(true);
    expect(expectAgreement("no-side-effects", { control: 2, takenAt: 0 })).toBe(true);
  });

  it("do not know of schemas that change values, or that they have never seen", () => {
    for (const schema of [
      z.string().trim(),
      z.string().transform(Number),
      z.string().default("x"),
      z.coerce.number().or(z.string()),
      z.object({ a: z.string() }),
      z.strictObject({ a: z.email() }),
      z.coerce.string(),
      z.bigint(),
      z.array(z.date()),
    ]) {
      expect(quickCheck(schema)).toBeUndefined();
    }
  });
});
