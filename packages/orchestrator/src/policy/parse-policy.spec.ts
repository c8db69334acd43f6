import fc from "fast-check";
import { stringify } from "yaml";
import { describe, expect, it } from "vitest";
import { defaultPolicy, isCandorError } from "@candor/contract";
import { parsePolicy } from "./parse-policy.js";

/** What a text is refused with: the code, and where. */
function refusal(text: string): string {
  try {
    const reading = parsePolicy(text);
    return reading.ok ? "taken" : `${reading.faults[0]?.code ?? ""} ${reading.faults[0]?.path ?? ""}`;
  } catch (error) {
    if (!isCandorError(error)) throw error;
    return `${error.code} ${error.path ?? ""}`;
  }
}

const text = stringify({ failures: defaultPolicy.failures });

describe("F1 a policy file", () => {
  it("is YAML or JSON; what it leaves out beside the failures is the default's", () => {
    expect(parsePolicy(text)).toEqual({ ok: true, policy: defaultPolicy });
    expect(parsePolicy(JSON.stringify(defaultPolicy))).toEqual({ ok: true, policy: defaultPolicy });
    expect(parsePolicy("settleMs: 5")).toEqual({ ok: true, policy: { ...defaultPolicy, settleMs: 5 } });
  });

  const deep = (open: string, depth: number): string => `a: ${open.repeat(depth)}`;
  const indented = (depth: number): string => Array.from({ length: depth }, (_, i) => `${" ".repeat(i)}a:`).join("\n");
  it.each([
    ["an alias", `a: &x [1]\nb: *x\n${text}`, "bad-file "],
    ["a bomb of aliases", `a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]`, "bad-file "],
    ["megabytes", `${text}# ${"x".repeat(5_000_000)}`, "too-large "],
    ["marks without end", `[${"[],".repeat(15_000)}]`, "bad-file "],
    ["deep brackets", deep("[", 10_000), "bad-file "],
    ["deep braces", deep("{a: ", 10_000), "bad-file "],
    ["deep indentation", indented(200), "bad-file a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a"],
    ["lists of lists", "- ".repeat(5_000), "bad-file line 1"],
    ["NaN", "settleMs: .nan", "policy-field settleMs"],
    ["infinity", "maxGraceMs: .inf", "policy-field maxGraceMs"],
    ["less than nothing", "settleMs: -1", "policy-field settleMs"],
    ["a part of one", "reorderBuffer: 1.5", "policy-field reorderBuffer"],
    ["a number in words", 'settleMs: "5"', "policy-field settleMs"],
    ["a tag", "settleMs: !!js/function 5", "bad-file line 1"],
    ["a key twice", "settleMs: 5\nsettleMs: 6", "bad-file line 2"],
    ["two documents", "settleMs: 5\n---\nsettleMs: 6", "bad-file line 2"],
    ["a key that is none", "? [a]\n: 1", "bad-file "],
    ["a key of the prototype", "__proto__: {settleMs: 5}", "policy-field "],
    ["a field that there is not", "retries: 5", "policy-field "],
    ["an empty file", "", "policy-field "],
    ["a list", "[]", "policy-field "],
    ["no YAML", "a: [", "bad-file line 1"],
  ])("is refused with its place: %s", (_, hostile, expected) => {
    expect(refusal(hostile)).toBe(expected);
  });

  it("is read or refused in bounded time, whatever it holds", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ maxLength: 300 }), fc.string({ unit: "binary" })), (any) => {
        expect(refusal(any)).toMatch(/^(taken|bad-file|too-large|policy-)/);
      }),
    );
  });
});
