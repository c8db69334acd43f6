import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isAtLeast, oldestServer, requireVersion } from "./version.js";

describe("Q2 the server's version", () => {
  it.each([
    ["2.12.0", true],
    ["v2.12.0", true],
    ["2.12.0-beta.2", true],
    ["2.15.1", true],
    ["10.0.0", true],
    ["3", true],
    ["2.11.99", false],
    ["2.9.10", false],
    ["1.99.99", false],
    ["", false],
    ["nonsense", false],
  ])("%s is new enough: %s", (version, good) => {
    expect(isAtLeast(version, oldestServer)).toBe(good);
    const refuse = (): void => {
      requireVersion(version, "here");
    };
    if (good) expect(refuse).not.toThrow();
    else expect(refuse).toThrow(expect.objectContaining({ code: "server-too-old" }) as Error);
  });

  it("is compared as numbers, part by part", () => {
    const part = fc.nat(30);
    const version = fc.tuple(part, part, part);
    const rank = ([major, minor, patch]: readonly [number, number, number]): number =>
      major * 10_000 + minor * 100 + patch;
    fc.assert(
      fc.property(version, version, (a, b) => {
        expect(isAtLeast(a.join("."), b.join("."))).toBe(rank(a) >= rank(b));
      }),
    );
  });
});
