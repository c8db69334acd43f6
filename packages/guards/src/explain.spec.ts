import {
  actions,
  auditCodes,
  errorCodes,
  findingCodes,
  policyFaultTable,
  quarantineCodes,
  verdictNames,
} from "@candor/contract";
import { describe, expect, it } from "vitest";
import { explain, explainedCodes } from "./explain.js";
import { undecidedExplanations } from "./explain/undecided.js";

describe("Q2 explanations", () => {
  const known = [
    ...findingCodes,
    ...verdictNames,
    ...actions,
    ...quarantineCodes,
    ...auditCodes,
    ...Object.keys(errorCodes),
    ...Object.keys(undecidedExplanations),
    ...Object.keys(policyFaultTable),
  ];

  it.each([...new Set(known)])("says what %s means and what to do", (code) => {
    const found = explain(code);
    expect(found.length).toBeGreaterThan(0);
    for (const { means, todo } of found) {
      expect(means).toMatch(/^[A-Z`].*\.$/s);
      expect(todo).toMatch(/^\S.*[.:]$/s);
    }
  });

  it("lists every code once", () => {
    expect([...explainedCodes()].sort()).toEqual([...new Set(known)].sort());
  });

  it("has no two meanings in the same words", () => {
    const texts = explainedCodes()
      .flatMap((code) => explain(code))
      .map(({ means }) => means);
    expect(new Set(texts).size).toBe(texts.length);
  });

  it("tells apart where a code appears", () => {
    expect(explain("malformed").map(({ families }) => families)).toEqual([["quarantine", "error"]]);
    expect(explain("intent-key-reuse").map(({ families }) => families)).toEqual([["finding"], ["error"]]);
  });

  it("does not mind upper and lower case, and knows no others", () => {
    expect(explain("full_disclosure_verified")[0]?.code).toBe("FULL_DISCLOSURE_VERIFIED");
    expect(explain("toString")).toEqual([]);
    expect(explain("")).toEqual([]);
  });
});
