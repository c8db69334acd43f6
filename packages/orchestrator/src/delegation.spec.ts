import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodePayload, encodePayload, isId, zeroHash } from "@candor/contract";
import { createDataKey, createSeed, createSigner, issueCertificate, unseal } from "@candor/ledger";
import { requireRole, sealBrief } from "./delegation.js";
import { mintIntents } from "./minted-intents.js";
import { requireStanding } from "./standing-rules.js";
import type { TaskState } from "./task-line.js";

describe("F7 minted intent keys", () => {
  const place = { run: "r1", task: "t1", dataKey: createDataKey() };
  const names = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 20 }), { maxLength: 20 });

  it("S19 are the same for one name whenever the task is delegated, and of the form of a UUID", () => {
    fc.assert(
      fc.property(names, (requests) => {
        const minted = mintIntents(requests, place);
        const keys = minted.map(({ key }) => key);
        expect(new Set(keys).size).toBe(requests.length);
        expect(keys.every(isId)).toBe(true);
        expect(minted.map(({ intent }) => intent)).toEqual(requests);
        for (const key of keys)
          expect(key).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
        expect(mintIntents([...requests].reverse(), place).map(({ key }) => key)).toEqual([...keys].reverse());
      }),
    );
  });

  it("differ by run, by task and by data key, however their names run together", () => {
    const places = [
      place,
      { ...place, run: "r1t", task: "1" },
      { ...place, run: "r2" },
      { ...place, task: "t2" },
      { ...place, dataKey: createDataKey() },
    ];
    const keys = places.flatMap((one) => mintIntents(["charge", "t1charge"], one).map(({ key }) => key));
    expect(new Set(keys).size).toBe(places.length * 2);
  });

  it("keep the target", () => {
    expect(mintIntents([{ name: "charge", target: "payments" }, "mail"], place)).toMatchObject([
      { intent: "charge", target: "payments" },
      { intent: "mail" },
    ]);
  });

  it("are refused for a name that stands twice", () => {
    expect(() => mintIntents(["charge", { name: "charge" }], place)).toThrow(
      expect.objectContaining({ code: "bad-argument" }),
    );
  });
});

describe("Q5 a brief", () => {
  it.each<[string, unknown]>([
    ["brief.terms.verifier", null],
    ["brief.terms.verifier.kind", { kind: "model", argv: ["true"], timeLimitMs: 1 }],
    ["brief.terms.verifier.argv", { kind: "command", argv: [], timeLimitMs: 1 }],
    ["brief.terms.verifier.argv", { kind: "command", argv: "true", timeLimitMs: 1 }],
    ["brief.terms.verifier.argv", { kind: "command", argv: ["true", "a\0b"], timeLimitMs: 1 }],
    ["brief.terms.verifier.probe", { kind: "probe", timeLimitMs: 1 }],
    ["brief.terms.verifier.timeLimitMs", { kind: "command", argv: ["true"] }],
    ["brief.terms.verifier.timeLimitMs", { kind: "command", argv: ["true"], timeLimitMs: Number.NaN }],
    ["brief.terms.verifier.timeLimitMs", { kind: "probe", probe: "page", timeLimitMs: -1 }],
  ])("U5 is refused with a verifier that could not be run, at %s: %j", (path, verifier) => {
    const terms = { redispatches: 0, verifier: verifier as never };
    expect(() => sealBrief({ terms }, createDataKey())).toThrow(
      expect.objectContaining({ code: "bad-argument", path }),
    );
  });

  it("has its prose sealed under the run's data key", () => {
    const dataKey = createDataKey();
    const brief = sealBrief({ title: "Pay the bill", instructions: "Pay 40 euros.", keyTasks: ["pay"] }, dataKey);
    const payload = {
      standing: { epoch: 1, state: "delegated" as const },
      agent: { actor: "a1", key: "U".padEnd(56, "A") },
      brief,
      intents: [],
      policyHash: zeroHash,
    };
    const bytes = encodePayload("delegate", payload);
    expect(Buffer.from(bytes).includes("euros")).toBe(false);
    const { title, instructions, keyTasks } = decodePayload("delegate", bytes).brief;
    expect(unseal(title ?? zeroHash, dataKey)).toBe("Pay the bill");
    expect(unseal(instructions ?? zeroHash, dataKey)).toBe("Pay 40 euros.");
    expect(keyTasks).toEqual(["pay"]);
  });
});

describe("B7 a certificate", () => {
  const [operator, stranger, agent] = [
    createSigner(createSeed()),
    createSigner(createSeed()),
    createSigner(createSeed()),
  ];
  const subject = { role: "agent", name: "a1", key: agent.publicKey } as const;

  it("counts in its own role, from its own operator", () => {
    requireRole(issueCertificate(operator, subject), "agent", operator.publicKey);
    for (const bad of [
      issueCertificate(stranger, subject),
      issueCertificate(operator, { ...subject, role: "probe" }),
    ]) {
      expect(() => {
        requireRole(bad, "agent", operator.publicKey);
      }).toThrow(expect.objectContaining({ code: "untrusted-key" }));
    }
  });
});

describe("R2 an intent without meaning", () => {
  const states: readonly TaskState[] = ["delegated", "recalled", "terminated", "closed"];

  it.each([
    ["recall", ["delegated"]],
    ["terminate", ["delegated", "recalled"]],
    ["close", ["delegated", "recalled", "terminated"]],
    ["delegate", ["delegated", "recalled", "terminated"]],
  ] as const)("is refused before it is sent: %s", (kind, good) => {
    const refused = states.filter((state) => {
      try {
        requireStanding("t1", kind, { epoch: 1, state });
        return false;
      } catch (error) {
        expect(error).toMatchObject({ code: "task-over" });
        return true;
      }
    });
    expect(refused).toEqual(states.filter((state) => !(good as readonly TaskState[]).includes(state)));
    expect(() => requireStanding("t1", kind, undefined)).toThrow(expect.objectContaining({ code: "not-found" }));
  });
});
