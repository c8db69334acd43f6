import { existsSync, readFileSync } from "node:fs";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodePublicKey, encodeSeed } from "../key-text.js";
import { backend as node } from "./node.js";
import { backend as portable } from "./portable.js";
import { createSeed, createSigner } from "./signer.js";
import { verifySignature } from "./signature.js";

const backends = [node, portable];
const wycheproof = new URL("../../../../../shared/vectors/ed25519/wycheproof.json", import.meta.url);
const bytes = (hexText: string): Uint8Array => Uint8Array.from(Buffer.from(hexText, "hex"));

/** RFC 8032, section 7.1. */
const rfc8032 = [
  {
    name: "TEST 1",
    seed: "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
    key: "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
    message: "",
    signature:
      "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
  },
  {
    name: "TEST 2",
    seed: "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
    key: "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
    message: "72",
    signature:
      "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
  },
  {
    name: "TEST 3",
    seed: "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
    key: "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
    message: "af82",
    signature:
      "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
  },
  {
    name: "TEST SHA(abc)",
    seed: "833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
    key: "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
    message: createHash("sha512").update("abc").digest("hex"),
    signature:
      "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704",
  },
];

const p = 2n ** 255n - 19n;
const order = 2n ** 252n + 27742317777372353535851937790883648493n;

function littleEndian(value: bigint): Uint8Array {
  return Uint8Array.from({ length: 32 }, (_, index) => Number((value >> BigInt(8 * index)) & 0xffn));
}
function integer(encoded: Uint8Array): bigint {
  return encoded.reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
}
function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (let b = base % p, e = exponent; e > 0n; e >>= 1n, b = (b * b) % p) if (e & 1n) result = (result * b) % p;
  return result;
}

/** The y coordinates of the 8-torsion, computed and not copied: y = 0, ±1 and the roots of d·y⁴ + 2y² = 1 by halving. */
function torsion(): bigint[] {
  const d = (p - ((121665n * power(121666n, p - 2n)) % p)) % p;
  const root = (square: bigint): bigint | undefined => {
    let candidate = power(square, (p + 3n) / 8n);
    if ((candidate * candidate - square) % p !== 0n) candidate = (candidate * power(2n, (p - 1n) / 4n)) % p;
    return (candidate * candidate - square) % p === 0n ? candidate : undefined;
  };
  const found = [0n, 1n, p - 1n];
  // A point of order 8 doubles to (±√−1, 0), so y² = −x² there, and the curve equation −x² + y² = 1 + d·x²·y² becomes 2y² = 1 − d·y⁴.
  const discriminant = root((1n + d) % p);
  if (discriminant === undefined) return found;
  for (const sign of [1n, -1n]) {
    const square = ((((-1n + sign * discriminant) * power(d, p - 2n)) % p) + p) % p;
    const y = root(square);
    if (y !== undefined) found.push(y, p - y);
  }
  return found;
}

for (const backend of backends) {
  describe(`signatures by ${backend.name}`, { timeout: 60_000 }, () => {
    it.each(rfc8032)("agrees with RFC 8032 $name", ({ seed, key, message, signature }) => {
      expect(Buffer.from(backend.publicKey(bytes(seed))).toString("hex")).toBe(key);
      expect(Buffer.from(backend.sign(bytes(seed), bytes(message))).toString("hex")).toBe(signature);
      expect(Buffer.from(backend.signerOf(bytes(seed))(bytes(message))).toString("hex")).toBe(signature);
      expect(backend.verify(bytes(key), bytes(message), bytes(signature))).toBe(true);
    });

    it("refuses S + L, which solves the same equation", () => {
      for (const { key, message, signature } of rfc8032) {
        const changed = bytes(signature);
        const s = integer(changed.subarray(32)) + order;
        if (s >= 2n ** 256n) continue;
        changed.set(littleEndian(s), 32);
        expect(backend.verify(bytes(key), bytes(message), changed)).toBe(false);
      }
    });

    it("refuses S = L", () => {
      const signature = bytes(rfc8032[0]?.signature ?? "");
      signature.set(littleEndian(order), 32);
      expect(backend.verify(bytes(rfc8032[0]?.key ?? ""), new Uint8Array(), signature)).toBe(false);
    });

    it("refuses small-order keys, which would sign for everybody", () => {
      // With A of small order, R = A·(−h) + S·B can be met without a private key; S = 0 and R among the small points.
      const points = torsion().flatMap((y) => [littleEndian(y), littleEndian(y | (1n << 255n))]);
      expect(new Set(points.map(String)).size).toBe(10);
      for (const key of points) {
        for (const point of points) {
          const signature = Uint8Array.of(...point, ...new Uint8Array(32));
          expect(backend.verify(key, Uint8Array.of(1), signature)).toBe(false);
        }
      }
    });

    it.each([
      ["canonical", 1n],
      ["not canonical", p + 1n],
    ])("refuses the neutral point as a key, its encoding %s, under a signature that solves the equation", (_, y) => {
      // With A neutral, S·B = R is all there is to meet: any key pair gives such an R and S.
      const seed = bytes(rfc8032[0]?.seed ?? "");
      const scalar = createHash("sha512").update(seed).digest().subarray(0, 32);
      scalar[0] = (scalar[0] ?? 0) & 248;
      scalar[31] = ((scalar[31] ?? 0) & 63) | 64;
      const signature = Uint8Array.of(...backend.publicKey(seed), ...littleEndian(integer(scalar) % order));
      expect(backend.verify(littleEndian(y), Uint8Array.of(1, 2, 3), signature)).toBe(false);
    });

    it("refuses keys and R with y ≥ p", () => {
      const good = rfc8032[0];
      for (let y = p; y < 2n ** 255n; y++) {
        const point = littleEndian(y);
        expect(backend.verify(point, new Uint8Array(), bytes(good?.signature ?? ""))).toBe(false);
        const signature = Uint8Array.of(...point, ...bytes(good?.signature ?? "").subarray(32));
        expect(backend.verify(bytes(good?.key ?? ""), new Uint8Array(), signature)).toBe(false);
      }
    });

    it.each([0, 31, 63, 65, 128])("refuses a signature of %i bytes", (length) => {
      expect(backend.verify(bytes(rfc8032[0]?.key ?? ""), new Uint8Array(), new Uint8Array(length))).toBe(false);
    });

    it.each([0, 31, 33])("refuses a key of %i bytes", (length) => {
      expect(backend.verify(new Uint8Array(length), new Uint8Array(), bytes(rfc8032[0]?.signature ?? ""))).toBe(false);
    });

    it("refuses a key that is no point of the curve", () => {
      const offCurve = littleEndian(2n);
      const signature = bytes(rfc8032[0]?.signature ?? "");
      expect(backend.verify(offCurve, new Uint8Array(), signature)).toBe(false);
    });
  });
}

describe("both backends", { timeout: 60_000 }, () => {
  it("give the same answer to every changed signature, key and message", () => {
    const change = fc.record({ part: fc.constantFrom(0, 1, 2), at: fc.nat({ max: 63 }), bit: fc.nat({ max: 7 }) });
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        fc.uint8Array({ minLength: 1, maxLength: 40 }),
        change,
        (seed, message, { part, at, bit }) => {
          const key = Uint8Array.from(node.publicKey(seed));
          const signature = Uint8Array.from(node.sign(seed, message));
          expect(portable.publicKey(seed)).toEqual(key);
          expect(portable.sign(seed, message)).toEqual(signature);
          expect(node.verify(key, message, signature)).toBe(true);
          expect(portable.verify(key, message, signature)).toBe(true);
          const target = [key, message, signature][part] ?? key;
          const index = at % target.length;
          target[index] = (target[index] ?? 0) ^ (1 << bit);
          expect(node.verify(key, message, signature)).toBe(false);
          expect(portable.verify(key, message, signature)).toBe(false);
        },
      ),
      { numRuns: 20 },
    );
  });

  it("agree with every case of Project Wycheproof", (ctx) => {
    if (!existsSync(wycheproof)) ctx.skip("../shared/vectors/ed25519/wycheproof.json is not here");
    interface Case {
      readonly tcId: number;
      readonly msg: string;
      readonly sig: string;
      readonly result: string;
    }
    interface Suite {
      readonly numberOfTests: number;
      readonly testGroups: readonly { readonly publicKey: { readonly pk: string }; readonly tests: readonly Case[] }[];
    }
    const suite = JSON.parse(readFileSync(wycheproof, "utf8")) as Suite;
    let run = 0;
    for (const group of suite.testGroups) {
      for (const test of group.tests) {
        const [key, message, signature] = [bytes(group.publicKey.pk), bytes(test.msg), bytes(test.sig)];
        for (const backend of backends) {
          const answer = backend.verify(key, message, signature) ? "valid" : "invalid";
          expect(`${backend.name} ${test.tcId} ${answer}`).toBe(`${backend.name} ${test.tcId} ${test.result}`);
        }
        run++;
      }
    }
    expect(run).toBe(suite.numberOfTests);
  });
});

describe("key-text signatures", { timeout: 60_000 }, () => {
  it("verify what a signer signed, and nothing else", () => {
    const signer = createSigner(createSeed());
    const message = Uint8Array.of(1, 2, 3);
    const signature = signer.sign(message);
    expect(verifySignature(signer.publicKey, message, signature)).toBe(true);
    expect(verifySignature(signer.publicKey, Uint8Array.of(1, 2, 4), signature)).toBe(false);
    expect(verifySignature(createSigner(createSeed()).publicKey, message, signature)).toBe(false);
  });

  it("answer false to text that is no key, and do not throw", () => {
    for (const text of [
      "",
      "U",
      encodeSeed(new Uint8Array(32)),
      encodePublicKey(new Uint8Array(32)).replace("A", "B"),
    ]) {
      expect(verifySignature(text, new Uint8Array(), new Uint8Array(64))).toBe(false);
    }
  });

  it("make a different seed each time", () => {
    expect(createSeed()).not.toBe(createSeed());
  });
});
