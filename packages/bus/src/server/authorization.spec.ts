import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { identityRoles, type IdentityRole } from "../roles.js";
import { authorizationConfig, permissionsOf, type ServerIdentity } from "./authorization.js";

const key = (letter: string): string => `U${letter.repeat(55)}`;
const identities: ServerIdentity[] = identityRoles.map((role, index) => ({
  role,
  name: "same-name",
  connectionKey: key("ABCDEFG".charAt(index)),
}));

/** Subjects of the users in the text, by the key of the user. */
function allowed(text: string, connectionKey: string): string {
  return text.slice(text.indexOf(connectionKey)).split("} }\n")[0] ?? "";
}

describe("B7 the authorization file", () => {
  it("depends on nothing but the set of identities", () => {
    const whole = authorizationConfig(identities);
    fc.assert(
      fc.property(fc.shuffledSubarray(identities, { minLength: identities.length }), (shuffled) => {
        expect(authorizationConfig(shuffled)).toBe(whole);
      }),
    );
  });

  it("names every identity once, with its own subjects", () => {
    const text = authorizationConfig(identities);
    for (const { connectionKey, role, name } of identities) {
      expect(text.split(connectionKey)).toHaveLength(2);
      const { publish, subscribe } = permissionsOf(role, name);
      for (const subject of [...publish, ...subscribe]) expect(allowed(text, connectionKey)).toContain(`"${subject}"`);
    }
  });

  it("gives JetStream to one account, whose users are operators and guards", () => {
    const text = authorizationConfig(identities);
    expect(text.split("jetstream: enabled")).toHaveLength(2);
    const log = text.slice(text.indexOf("  LOG: {"), text.indexOf('  "agent-same-name": {'));
    const inside = identities.filter(({ connectionKey }) => log.includes(connectionKey)).map(({ role }) => role);
    expect(inside).toEqual(["operator", "guard"]);
  });

  it("lets nobody publish live subjects, nor anybody but guards publish verdicts", () => {
    const publishers = (start: string): IdentityRole[] =>
      identityRoles.filter((role) => permissionsOf(role, "x").publish.some((subject) => subject.startsWith(start)));
    expect(publishers("candor.live")).toEqual([]);
    for (const start of ["candor.vd", "candor.quarantine", "candor.checkpoint", "candor.in.guard"]) {
      expect(publishers(start)).toEqual(["guard"]);
    }
  });

  it("lets nobody in the streams' account listen where a stream listens: a push consumer would be stored there", () => {
    const captured = [
      "candor.in",
      "candor.vd",
      "candor.quarantine",
      "candor.checkpoint",
      "candor.key",
      "$KV",
      ">",
      "*",
    ];
    for (const role of ["operator", "guard"] as const) {
      const { subscribe } = permissionsOf(role, "x");
      expect(subscribe.filter((subject) => captured.some((start) => subject.startsWith(start)))).toEqual([]);
    }
  });

  it.each([
    [{ role: "agent", name: "a.b", connectionKey: key("A") }, "bad-argument"],
    [{ role: "agent", name: 'a"}', connectionKey: key("A") }, "bad-argument"],
    [{ role: "agent", name: "a", connectionKey: "SUSECRET" }, "bad-key"],
    [{ role: "agent", name: "same-name", connectionKey: key("Z") }, "bad-argument"],
    [{ role: "agent", name: "other", connectionKey: key("A") }, "bad-argument"],
  ] as const)("refuses %o: %s", (identity, code) => {
    expect(() => authorizationConfig([...identities, identity])).toThrow(expect.objectContaining({ code }) as Error);
  });
});
