import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  certifyTaskKey,
  checkCertificate,
  decodeCertificate,
  encodeCertificate,
  isTaskKeyCertified,
  issueCertificate,
} from "./certificate.js";
import { createSeed, createSigner } from "./signature/signer.js";

const operator = createSigner(createSeed());
const guard = createSigner(createSeed());
const certificate = issueCertificate(operator, { role: "guard", name: "g1", key: guard.publicKey });
const untrusted = expect.objectContaining({ code: "untrusted-key" }) as Error;

describe("certificates", { timeout: 60_000 }, () => {
  it("pass under the operator's key", () => {
    expect(() => {
      checkCertificate(operator.publicKey, certificate);
    }).not.toThrow();
  });

  it.each([
    ["role", { role: "agent" as const }],
    ["name", { name: "g2" }],
    ["key", { key: operator.publicKey }],
    ["signature", { signature: new Uint8Array(64) }],
  ])("B7 are refused when the %s was changed", (_, change) => {
    expect(() => {
      checkCertificate(operator.publicKey, { ...certificate, ...change });
    }).toThrow(untrusted);
  });

  it("B7 are refused under another operator", () => {
    expect(() => {
      checkCertificate(guard.publicKey, certificate);
    }).toThrow(untrusted);
  });

  it("travel in a header", () => {
    const text = encodeCertificate(certificate);
    expect(text).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(decodeCertificate(text)).toEqual({ ...certificate, signature: Uint8Array.from(certificate.signature) });
  });

  it("are refused as header text of any other form", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String()), (text) => {
        expect(() => decodeCertificate(text)).toThrow(expect.objectContaining({ code: "malformed" }));
      }),
    );
  });
});

describe("task keys", { timeout: 60_000 }, () => {
  const subject = { run: "r", task: "t", epoch: 2, actor: "a", taskKey: guard.publicKey };
  const deployment = createSigner(createSeed());
  const signature = certifyTaskKey(deployment, subject);

  it("are bound to run, task, epoch, actor and key", () => {
    expect(isTaskKeyCertified(deployment.publicKey, subject, signature)).toBe(true);
    const others = [{ run: "q" }, { task: "s" }, { epoch: 3 }, { actor: "b" }, { taskKey: operator.publicKey }];
    for (const change of others) {
      expect(isTaskKeyCertified(deployment.publicKey, { ...subject, ...change }, signature)).toBe(false);
    }
    expect(isTaskKeyCertified(operator.publicKey, subject, signature)).toBe(false);
  });
});
