import { encodeBase64, sha256 } from "@candor/contract";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { issueCertificate } from "./certificate.js";
import {
  formatCheckpoint,
  openCheckpoint,
  parseCheckpoint,
  readCheckpoint,
  signCheckpoint,
  type Checkpoint,
} from "./checkpoint.js";
import { openNote, parseNote, signNote } from "./note.js";
import { createSeed, createSigner } from "./signature/signer.js";

const operator = createSigner(createSeed());
const signer = createSigner(createSeed());
const certificate = issueCertificate(operator, { role: "guard", name: "g1", key: signer.publicKey });
const hash = fc.uint8Array({ minLength: 32, maxLength: 32 });
const anyCheckpoint = fc.record<Checkpoint>({
  lane: fc.nat({ max: 255 }),
  size: fc.maxSafeNat().map((n) => Math.max(1, n)),
  root: hash,
  position: fc.maxSafeNat().map((n) => Math.max(1, n)),
  timeMs: fc.maxSafeNat(),
  leaf: hash,
  fold: fc.integer({ min: 1, max: 99 }),
  policies: fc.array(hash, { maxLength: 3 }),
});
const sample: Checkpoint = {
  lane: 3,
  size: 1000,
  root: new Uint8Array(32).fill(1),
  position: 16_017,
  timeMs: 1_780_000_000_000,
  leaf: new Uint8Array(32).fill(2),
  fold: 1,
  policies: [sha256(new Uint8Array())],
};

describe("checkpoint text", { timeout: 60_000 }, () => {
  it("is a C2SP checkpoint with our extension lines", () => {
    expect(formatCheckpoint(sample)).toBe(
      `candor/lane/3\n1000\n${encodeBase64(sample.root)}\nposition 16017\ntime 1780000000000\nleaf ${encodeBase64(sample.leaf)}\nfold 1\npolicies e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\n`,
    );
  });

  it("reads back what it wrote, the policies sorted", () => {
    fc.assert(
      fc.property(anyCheckpoint, (checkpoint) => {
        const read = parseCheckpoint(formatCheckpoint(checkpoint));
        expect(formatCheckpoint(read)).toBe(formatCheckpoint(checkpoint));
        expect({ ...read, policies: [] }).toEqual({ ...checkpoint, policies: [] });
        expect(read.policies).toHaveLength(checkpoint.policies.length);
      }),
    );
  });

  it.each([
    ["origin", "candor/lane/3", "candor/lane/03"],
    ["origin", "candor/lane/3", "other/3"],
    ["size", "1000", "01000"],
    ["size", "1000", "0"],
    ["root", encodeBase64(sample.root), "AAAA"],
    ["position", "position 16017", "position -1"],
    ["time", "time 1780000000000", "time"],
    ["leaf", "leaf ", "leave "],
    ["fold", "fold 1", "fold one"],
    ["policies", "policies e3", "policies E3"],
    ["last", "b855\n", "b855\nmore 1\n"],
  ])("refuses a wrong %s line", (line, good, bad) => {
    const text = formatCheckpoint(sample).replace(good, bad);
    expect(text).not.toBe(formatCheckpoint(sample));
    expect(() => parseCheckpoint(text)).toThrow(expect.objectContaining({ code: "malformed", path: line }));
  });

  it("throws nothing but a CandorError on any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(() => parseCheckpoint(text)).toThrow(expect.objectContaining({ name: "CandorError" }));
        expect(() => parseNote(text)).toThrow(expect.objectContaining({ name: "CandorError" }));
      }),
    );
  });
});

describe("signed checkpoints", { timeout: 60_000 }, () => {
  const note = signCheckpoint(sample, { name: "g1", signer });

  it("B9 open under the operator's key alone", () => {
    expect(openCheckpoint(note, operator.publicKey, certificate)).toEqual(sample);
    expect(readCheckpoint(note)).toEqual(sample);
  });

  it("B9 are refused when any letter of the text was changed", () => {
    const end = note.indexOf("\n\n");
    for (let at = 0; at < end; at++) {
      const changed = note.slice(0, at) + (note[at] === "1" ? "2" : "1") + note.slice(at + 1);
      expect(() => openCheckpoint(changed, operator.publicKey, certificate)).toThrow(
        expect.objectContaining({ name: "CandorError" }),
      );
    }
  });

  it("B6 are refused under another guard's key or another operator", () => {
    const other = createSigner(createSeed());
    const foreign = issueCertificate(operator, { role: "guard", name: "g1", key: other.publicKey });
    const refusal = (code: string): Error => expect.objectContaining({ code }) as Error;
    expect(() => openCheckpoint(note, operator.publicKey, foreign)).toThrow(refusal("bad-signature"));
    expect(() => openCheckpoint(note, other.publicKey, certificate)).toThrow(refusal("untrusted-key"));
  });

  it("B7 are refused from anybody who is not certified as a guard", () => {
    const agent = issueCertificate(operator, { role: "agent", name: "g1", key: signer.publicKey });
    expect(() => openCheckpoint(note, operator.publicKey, agent)).toThrow(
      expect.objectContaining({ code: "untrusted-key" }),
    );
  });
});

describe("signed notes", { timeout: 60_000 }, () => {
  it("agree with the example of golang.org/x/mod/sumdb/note", () => {
    // The Go checksum database's key `sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8` has this id.
    const key = Uint8Array.from(Buffer.from("Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8", "base64")).subarray(1);
    const id = sha256(Uint8Array.of(...Buffer.from("sum.golang.org\n"), 1, ...key)).subarray(0, 4);
    expect(Buffer.from(id).toString("hex")).toBe("033de0ae");
  });

  it("open with several signatures, the others passed over", () => {
    const other = createSigner(createSeed());
    const note = signNote("a\nb\n", "g1", signer) + signNote("a\nb\n", "g2", other).slice("a\nb\n\n".length);
    expect(parseNote(note).signatures.map(({ name }) => name)).toEqual(["g1", "g2"]);
    expect(openNote(note, "g2", other.publicKey)).toBe("a\nb\n");
    expect(() => openNote(note, "g1", other.publicKey)).toThrow(expect.objectContaining({ code: "bad-signature" }));
  });

  it.each([
    ["", "g1"],
    ["no newline", "g1"],
    ["two\n\nparts\n", "g1"],
    ["a\n", "a name"],
    ["a\n", "a+b"],
    ["a\n", ""],
  ])("cannot be made of %j by %j", (text, name) => {
    expect(() => signNote(text, name, signer)).toThrow(expect.objectContaining({ code: "bad-argument" }));
  });
});
