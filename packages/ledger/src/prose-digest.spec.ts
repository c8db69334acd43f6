import { createHmac } from "node:crypto";
import { concatBytes, domainPrefix, hex, utf8 } from "@candor/contract";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { proseDigest } from "./prose-digest.js";
import { createDataKey } from "./seal.js";

describe("U4 Q5 a text named by its digest", () => {
  it("is an HMAC as the platform computes it", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 200 }), (text) => {
        const key = createDataKey();
        const message = concatBytes(domainPrefix("candor/v1/prose"), utf8(text));
        expect(hex(proseDigest(text, key))).toBe(createHmac("sha256", key).update(message).digest("hex"));
      }),
    );
  });

  it("says nothing to whoever has another key", () => {
    expect(proseDigest("deploy", createDataKey())).not.toEqual(proseDigest("deploy", createDataKey()));
  });
});
