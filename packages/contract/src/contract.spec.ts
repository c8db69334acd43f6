import fc from "fast-check";
import { createHash } from "node:crypto";
import { describe, expect, it, vi } from "vitest";
import { hex } from "./bytes.js";
import { sha256 as portable } from "./digest-portable.js";
import { sha256 } from "./digest.js";
import { jsonSchema, schemaNames } from "./json-schema.js";
import { laneOf } from "./lane.js";
import { defaultPolicy, policyHash, policySchema } from "./policy.js";
import { encodePayload } from "./payloads/index.js";
import { cutText } from "./text.js";
import { parseStoredSubject, storedSubject } from "./subjects.js";
import { actions, stricter } from "./vocabulary.js";
import { decodeDelegationToken, encodeDelegationToken } from "./delegation-token.js";

describe("sha256", () => {
  it("agrees with the platform, natively and portably, at every length around a block", () => {
    for (let length = 0; length < 200; length += 1) {
      const bytes = Uint8Array.from({ length }, (_, i) => (i * 37) & 255);
      const wanted = createHash("sha256").update(bytes).digest("hex");
      expect(hex(sha256(bytes))).toBe(wanted);
      expect(hex(portable(bytes))).toBe(wanted);
    }
  });
});

describe("B2 subjects", () => {
  it("parses what it builds", () => {
    const address = { lane: 3, run: "r1", task: "_run", role: "orch", actor: "fleet", kind: "intent" } as const;
    expect(storedSubject(address)).toBe("candor.log.3.r1._run.orch.fleet.intent");
    expect(parseStoredSubject(storedSubject(address))).toEqual(address);
  });

  it.each([
    "candor.log.3.r1.t1.agent.a",
    "candor.log.3.r1.t1.agent.a.error.x",
    "candor.log.x.r1.t1.agent.a.error",
    "candor.log.3._r.t1.agent.a.error",
    "candor.log.3.r1.t1.king.a.error",
    "candor.log.3.r1.t1.agent.a.nonsense",
    "candor.in.agent.a.r.t.error",
  ])("does not parse %s", (subject) => {
    expect(parseStoredSubject(subject)).toBeUndefined();
  });

  it("refuses tokens that would change a subject's shape", () => {
    const address = { lane: 0, run: "r", task: "t", role: "agent", actor: "a", kind: "error" } as const;
    for (const bad of ["", "a.b", "*", ">", "a b", "_x", "x".repeat(65), "é"]) {
      expect(() => storedSubject({ ...address, run: bad })).toThrow(/run/);
      expect(() => storedSubject({ ...address, actor: bad })).toThrow(/actor/);
    }
  });

  it("puts every run into a lane that exists", () => {
    fc.assert(fc.property(fc.string(), fc.integer({ min: 1, max: 64 }), (run, lanes) => laneOf(run, lanes) < lanes));
  });
});

describe("B3 names and identifiers", () => {
  const effect = { phase: "committed", intent: "charge", key: "key-1", target: "payments", dispatch: 2 } as const;
  const half = "\ud83d";

  it.each([
    ["payload.target", { ...effect, target: `pay${half}` }],
    ["payload.intent", { ...effect, intent: `${half}charge` }],
    ["payload.identifiers.id", { ...effect, identifiers: { id: `x${half}` } }],
  ])("with half a character at %s are refused by who sends them: their bytes would be no UTF-8", (path, payload) => {
    expect(() => encodePayload("effect", payload)).toThrow(expect.objectContaining({ code: "malformed", path }));
  });

  it("with whole ones are taken, and cut to whole ones", () => {
    expect(encodePayload("effect", { ...effect, target: "💶", identifiers: { id: "💶" } })).toBeInstanceOf(Uint8Array);
    expect([cutText("a💶", 2), cutText("a💶", 3), cutText("abc", 2)]).toEqual(["a", "a💶", "ab"]);
  });
});

describe("policy, actions, tokens, schemas", () => {
  it("the default policy fits its own schema and has a stable hash", () => {
    expect(policySchema.safeParse(defaultPolicy).success).toBe(true);
    expect(hex(policyHash(defaultPolicy))).toBe(hex(policyHash({ ...defaultPolicy })));
    expect(hex(policyHash({ ...defaultPolicy, settleMs: 1 }))).not.toBe(hex(policyHash(defaultPolicy)));
  });

  it("stricter() is the maximum of the documented order", () => {
    for (const [i, a] of actions.entries()) {
      for (const [j, b] of actions.entries()) expect(stricter(a, b)).toBe(i >= j ? a : b);
    }
  });

  it("a delegation token survives a line of text, and a damaged one is refused", () => {
    const token = { intent: Uint8Array.of(1, 2), lane: 3, sequence: 9, dataKey: new Uint8Array(32).fill(7) };
    const text = encodeDelegationToken(token);
    expect(decodeDelegationToken(`${text}\n`)).toEqual(token);
    for (const bad of ["", "candor1.", text.slice(0, -4), text.slice(3), `${text.slice(0, 20)}!${text.slice(20)}`])
      expect(() => decodeDelegationToken(bad)).toThrow(/token/);
  });

  it("a delegation token needs nothing of Node", () => {
    vi.stubGlobal("Buffer", undefined);
    try {
      const token = { intent: Uint8Array.of(255, 254), lane: 3, sequence: 9, dataKey: new Uint8Array(32).fill(7) };
      expect(decodeDelegationToken(encodeDelegationToken(token))).toEqual(token);
    } finally {
      vi.unstubAllGlobals();
    }
  });

  it("every schema can be exported as JSON Schema", () => {
    for (const name of schemaNames) expect(jsonSchema(name)).toHaveProperty("$schema");
    expect(JSON.stringify(jsonSchema("accept"))).toContain("base64");
  });
});
