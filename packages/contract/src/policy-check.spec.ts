import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defaultFailurePolicy, failureVocabulary, planContexts, severities } from "./failure-policy.js";
import { defaultPolicy, policyHash, type Policy } from "./policy.js";
import { readPolicy } from "./policy-check.js";
import { policyFaultTable } from "./policy-faults.js";
import { errorTypes, finalities } from "./vocabulary.js";

type Tree = Record<string, unknown>;

/** The default policy with one place bent. */
function bent(path: string, value: unknown): Tree {
  const copy = structuredClone(defaultPolicy) as unknown as Tree;
  const names = path.split(".");
  const last = names.pop() ?? "";
  const place = names.reduce((tree, name) => tree[name] as Tree, copy);
  if (value === undefined) Reflect.deleteProperty(place, last);
  else place[last] = value;
  return copy;
}

const faultsOf = (value: unknown) => {
  const reading = readPolicy(value);
  return reading.ok ? [] : reading.faults;
};

/** Ten broken policies, and what is said of each. */
const broken: readonly (readonly [code: string, path: string, value: unknown, named: string])[] = (
  [
    ["policy-row-missing", "failures.rows.denied", undefined],
    ["policy-finality-missing", "failures.rows.denied.not-mine", undefined],
    ["policy-context-missing", "failures.rows.denied.not-mine.optional", undefined],
    ["policy-row-unknown", "failures.rows.timeout", defaultFailurePolicy.rows.transient, "failures.rows"],
    ["policy-rows-identical", "failures.rows.defect", defaultFailurePolicy.rows.transient],
    ["policy-behaviour-missing", "failures.severities.high", undefined],
    ["policy-behaviour-repeated", "failures.severities.high", "try-alternate"],
    ["policy-action-unfit", "failures.rows.partial.exhausted.needed.action", "halt"],
    ["policy-version-unknown", "failures.vocabulary", failureVocabulary + 1],
    ["policy-field", "settleMs", Number.NaN],
  ] satisfies (readonly [string, string, unknown, string?])[]
).map(([code, path, value, named = path]) => [code, path, value, named]);

describe("F1 F5 readPolicy", () => {
  it("takes the default policy", () => {
    expect(readPolicy(defaultPolicy)).toEqual({ ok: true, policy: defaultPolicy });
  });

  it.each(broken)("refuses %s at %s", (code, path, value, named) => {
    expect(faultsOf(bent(path, value))).toContainEqual(expect.objectContaining({ code, path: named }));
  });

  it("says something else of each of ten broken policies, and knows no other fault", () => {
    const sentences = broken.map(([, path, value]) => faultsOf(bent(path, value))[0]?.sentence);
    expect(new Set(sentences).size).toBe(10);
    expect(broken.map(([code]) => code).sort()).toEqual(Object.keys(policyFaultTable).sort());
  });

  it("names both types, both severities, and the field", () => {
    const sentences = broken.flatMap(([, path, value]) => faultsOf(bent(path, value))).map(({ sentence }) => sentence);
    expect(sentences).toEqual(
      expect.arrayContaining([
        expect.stringContaining("transient and defect have the same row"),
        expect.stringContaining("severities medium and high are both try-alternate"),
        expect.stringContaining("medium is try-alternate, which goes with verify, redispatch and not with halt"),
      ]),
    );
  });

  it("F11 refuses a newer version, with a word on which side to update", () => {
    expect(faultsOf(bent("version", 2))[0]).toMatchObject({
      code: "policy-version-unknown",
      path: "version",
      sentence: expect.stringContaining("update it") as unknown,
    });
  });

  it("names every cell that is missing, wherever it is", () => {
    const places = fc.record({
      type: fc.constantFrom(...errorTypes),
      finality: fc.constantFrom(...finalities),
      context: fc.constantFrom(...planContexts),
    });
    fc.assert(
      fc.property(places, ({ type, finality, context }) => {
        const path = `failures.rows.${type}.${finality}.${context}`;
        expect(faultsOf(bent(path, undefined)).map((fault) => fault.path)).toEqual([path]);
      }),
    );
  });

  it("finds any two types with one row, and none where no two have", () => {
    const types = fc.uniqueArray(fc.constantFrom(...errorTypes), { minLength: 2, maxLength: 2 });
    fc.assert(
      fc.property(types, ([one = "denied", other = "defect"]) => {
        const { rows } = defaultFailurePolicy;
        const swapped = { ...rows, [one]: rows[other], [other]: rows[one] };
        expect(faultsOf({ ...defaultPolicy, failures: { ...defaultFailurePolicy, rows: swapped } })).toEqual([]);
        const same = { ...rows, [one]: rows[other] };
        const codes = faultsOf({ ...defaultPolicy, failures: { ...defaultFailurePolicy, rows: same } });
        expect(codes.map(({ code }) => code)).toEqual(["policy-rows-identical"]);
      }),
    );
  });

  it("takes a policy of before there were failures, and none that has both or neither", () => {
    const { failures, ...rest } = defaultPolicy;
    const severity = Object.fromEntries(errorTypes.map((type) => [type, severities[0]])) as Policy["severity"];
    expect(readPolicy({ ...rest, severity }).ok).toBe(true);
    expect(faultsOf({ ...rest, severity, failures })).toMatchObject([{ code: "policy-field", path: "severity" }]);
    expect(faultsOf(rest)).toMatchObject([{ code: "policy-row-missing", path: "failures" }]);
  });

  it("B1 the table is part of the hash that a run pins", () => {
    const other = bent("failures.rows.denied.exhausted.needed", { severity: "high", action: "escalate" });
    expect(policyHash(other as Policy)).not.toEqual(policyHash(defaultPolicy));
  });

  it("gives an answer for anything at all, with paths and sentences of bounded length", () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true }), fc.anything(), (value, inner) => {
        for (const one of [value, { ...defaultPolicy, failures: inner }, bent("failures.rows", inner ?? 1)]) {
          const reading = readPolicy(one);
          if (reading.ok) continue;
          expect(reading.faults.length).toBeLessThanOrEqual(100);
          for (const { path } of reading.faults) expect(path.length).toBeLessThanOrEqual(256);
        }
      }),
    );
  });
});
