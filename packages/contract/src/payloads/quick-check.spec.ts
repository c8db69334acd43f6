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

  const hidden = Object.defineProperty({ bb: 1 }, "aa", { value: 1 });
  const withProto: unknown = JSON.parse('{"__proto__": "x"}');
  const sparse: unknown[] = [];
  sparse.length = 2;
  it.each<[string, z.ZodType, unknown]>([
    ["a field that can't be enumerated in place of one that is unknown", z.strictObject({ aa: z.int() }), hidden],
    ["a `__proto__` of a record, which the schema drops", z.record(z.string(), z.string()), withProto],
    ["a symbol in a record", z.record(z.string().regex(/^a$/), z.string()), { [Symbol("a")]: "x" }],
    ["a hole in an array", z.array(z.boolean().optional()), sparse],
    ["a hole in an array of what is not optional", z.array(z.boolean()), sparse],
    ["what a refinement of an object refuses", z.strictObject({ a: z.int() }).refine(() => false), { a: 1 }],
    ["what a refinement of bytes refuses", z.custom<number>(() => true).refine(() => false), 1],
    ["what a refinement of an enumeration refuses", z.enum(["a"]).refine(() => false), "a"],
    ["what a refinement of a record refuses", z.record(z.string(), z.string()).refine(() => false), {}],
    ["what a refinement of a literal refuses", z.literal("a").refine(() => false), "a"],
    [
      "what a refinement of an optional refuses",
      z
        .boolean()
        .optional()
        .refine(() => false),
      undefined,
    ],
    ["what a refinement of a list refuses", z.array(z.boolean()).refine(() => false), []],
    ["a pattern that begins where it ended", z.string().regex(/b/y), "ab"],
    ["the name of a number in an enumeration", z.enum({ A: 0, 0: "A" } as unknown as Record<string, string>), "A"],
    ["undefined for what is exactly optional", z.strictObject({ a: z.exactOptional(z.int()) }), { a: undefined }],
  ])("never take %s", (_, schema, value) => {
    const quick = quickCheck(schema);
    // Twice, and once after a good one: a check must not learn.
    quick?.(value);
    if (quick?.(value) !== true) return;
    expect(schema.safeParse(value)).toEqual({ success: true, data: value });
  });

  it("answer by the value alone when a pattern has a memory", () => {
    const pattern = /a/y;
    pattern.lastIndex = 1;
    expect(quickCheck(z.string().regex(pattern))?.("ba") ?? false).toBe(false);
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
