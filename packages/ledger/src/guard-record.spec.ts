import { encodeQuarantineBody, encodeVerdictBody, utf8, zeroHash } from "@candor/contract";
import { describe, expect, it } from "vitest";
import { body, certificate, guard, operator, signed, subject } from "../../../test/kit/signed-verdict.js";
import { encodeCertificate, issueCertificate } from "./certificate.js";
import { signCheckpoint, type Checkpoint } from "./checkpoint.js";
import { certificateHeader, GuardRecords, readCertificateHeader } from "./guard-record.js";
import { createSeed, createSigner } from "./signature/signer.js";

const stranger = createSigner(createSeed());
const records = new GuardRecords(operator.publicKey);

describe("B6 a guard's record", () => {
  it("is opened by whoever has the operator's public key", () => {
    expect(records.verdict(subject, signed(encodeVerdictBody(body)))).toEqual({ verdict: body, guard: "g1" });
    const refused = {
      code: "malformed" as const,
      seq: 7,
      subject: "candor.log.3.r1.t1.orch.f1.intent",
      sha256: zeroHash,
      sentence: "Said for people.",
      at: 0,
      fold: 1,
    };
    const data = signed(encodeQuarantineBody(refused), { kind: "quarantine" });
    expect(records.quarantine("candor.quarantine.3.f1.7", data)).toEqual(refused);
    expect(() => records.quarantine("candor.quarantine.3.f1.8", data)).toThrow(
      expect.objectContaining({ code: "subject-mismatch" }),
    );
  });

  it.each<[string, Uint8Array, string]>([
    ["another key signed it", signed(encodeVerdictBody(body), { signer: stranger }), "bad-signature"],
    [
      "it was signed as a record of another kind",
      signed(encodeVerdictBody(body), { kind: "quarantine" }),
      "bad-signature",
    ],
    [
      "the guard vouches for itself",
      signed(encodeVerdictBody(body), {
        signer: stranger,
        certificate: issueCertificate(stranger, { role: "guard", name: "g1", key: stranger.publicKey }),
      }),
      "untrusted-key",
    ],
    [
      "an agent signed it",
      signed(encodeVerdictBody(body), {
        signer: stranger,
        certificate: issueCertificate(operator, { role: "agent", name: "a1", key: stranger.publicKey }),
      }),
      "untrusted-key",
    ],
    [
      "a known certificate got another name",
      signed(encodeVerdictBody(body), { certificate: { ...certificate, name: "g2" } }),
      "untrusted-key",
    ],
    ["it is about another task", signed(encodeVerdictBody({ ...body, task: "t2" })), "subject-mismatch"],
    ["it is about another run", signed(encodeVerdictBody({ ...body, run: "r2" })), "subject-mismatch"],
    ["it is of another judge", signed(encodeVerdictBody({ ...body, judge: "recall" })), "subject-mismatch"],
    ["it is no record", new Uint8Array([1, 2, 3]), "malformed"],
  ])("is never acted upon if %s", (_, data, code) => {
    expect(() => records.verdict(subject, data)).toThrow(expect.objectContaining({ code }));
  });
});

describe("B9 a guard's checkpoint", () => {
  const checkpoint: Checkpoint = {
    lane: 3,
    size: 2,
    root: new Uint8Array(32).fill(1),
    position: 9,
    timeMs: 1_000,
    leaf: new Uint8Array(32).fill(2),
    fold: 1,
    policies: [],
  };
  const note = utf8(signCheckpoint(checkpoint, { name: "g1", signer: guard }));

  it("is opened with the certificate in its header", () => {
    const headers = utf8(`NATS/1.0\r\nOther: 1\r\n${certificateHeader}: ${encodeCertificate(certificate)}\r\n\r\n`);
    const found = readCertificateHeader(headers);
    expect(found).toEqual({ ...certificate, signature: Uint8Array.from(certificate.signature) });
    expect(found && records.checkpoint("candor.checkpoint.3", note, found)).toEqual(checkpoint);
  });

  it("does not count on another lane, or without its guard's certificate", () => {
    expect(() => records.checkpoint("candor.checkpoint.4", note, certificate)).toThrow(
      expect.objectContaining({ code: "subject-mismatch" }),
    );
    expect(() => records.checkpoint("candor.checkpoint.3", note, { ...certificate, name: "g2" })).toThrow(
      expect.objectContaining({ code: "untrusted-key" }),
    );
    expect(readCertificateHeader(undefined)).toBeUndefined();
    expect(readCertificateHeader(utf8("NATS/1.0\r\n\r\n"))).toBeUndefined();
    expect(() => readCertificateHeader(utf8(`NATS/1.0\r\n${certificateHeader}: x\r\n\r\n`))).toThrow(
      expect.objectContaining({ code: "malformed" }),
    );
  });
});
