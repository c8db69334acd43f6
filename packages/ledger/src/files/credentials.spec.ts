import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkCertificate } from "../certificate.js";
import { createSeed, createSigner } from "../signature/signer.js";
import { verifySignature } from "../signature/signature.js";
import {
  createCredentials,
  createOperator,
  exportCredentials,
  formatCertificate,
  parseCredentials,
  readCertificateFile,
  readCredentials,
} from "./index.js";

const posix = process.platform !== "win32";
const noModes = "this platform has no file modes";
let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "candor-files-"));
});
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

const refusal = (code: string, words = ""): Error =>
  expect.objectContaining({ name: "CandorError", code, message: expect.stringContaining(words) as string }) as Error;
const modeOf = (path: string): number => statSync(path).mode & 0o777;

describe("credentials folders", () => {
  it("hold who somebody is, and keys of their own", () => {
    const operator = createOperator(join(root, "operator"), { servers: ["nats://127.0.0.1:4222"] });
    expect(operator).toMatchObject({
      role: "operator",
      name: "operator",
      apiPrefix: "$JS.API",
      certificate: undefined,
    });
    expect(operator.trust.operator).toBe(operator.signer.publicKey);
    expect(operator.servers).toEqual(["nats://127.0.0.1:4222"]);

    const payer = createCredentials(join(root, "agent-payer"), {
      role: "agent",
      name: "payer",
      operator: operator.signer,
    });
    expect(payer).toMatchObject({
      role: "agent",
      name: "payer",
      inboxPrefix: "_IN.agent.payer",
      apiPrefix: "candor.js",
    });
    expect(payer.trust.operator).toBe(operator.signer.publicKey);
    expect(createSigner(payer.connectionSeed).publicKey).toBe(payer.connectionKey);
    expect(payer.connectionKey).not.toBe(payer.signer.publicKey);
    expect(payer.certificate).toMatchObject({ role: "agent", name: "payer", key: payer.signer.publicKey });
    if (payer.certificate === undefined) expect.unreachable();
    checkCertificate(operator.signer.publicKey, payer.certificate);
    const message = Uint8Array.of(1);
    expect(verifySignature(payer.certificate.key, message, payer.signer.sign(message))).toBe(true);
  });

  it.each([
    ["guard", "guard", "_IN.guard.x", "$JS.API"],
    ["prober", "probe", "_IN.probe.x", "candor.js"],
    ["orchestrator", "orch", "_IN.orch.x", "candor.js"],
    ["auditor", undefined, "_IN.auditor.x", "candor.js"],
  ] as const)("B7 give a %s its certificate and prefixes", (role, certified, inboxPrefix, apiPrefix) => {
    const { signer } = createOperator(join(root, "operator"));
    const made = createCredentials(join(root, "x"), { role, name: "x", operator: signer });
    expect(made.certificate?.role).toBe(certified);
    expect(made).toMatchObject({ inboxPrefix, apiPrefix });
  });

  it("are for the owner alone, files and all, with nothing left beside them", (ctx) => {
    createOperator(join(root, "auth", "operator"));
    expect(readdirSync(join(root, "auth"))).toEqual(["operator"]);
    expect(readdirSync(join(root, "auth", "operator")).sort()).toEqual([
      "connection.seed",
      "identity.json",
      "signing.seed",
      "trust.json",
    ]);
    if (!posix) ctx.skip(noModes);
    expect(modeOf(join(root, "auth", "operator"))).toBe(0o700);
    for (const file of readdirSync(join(root, "auth", "operator"))) {
      expect(modeOf(join(root, "auth", "operator", file))).toBe(0o600);
    }
  });

  it("are never written over", () => {
    const first = createOperator(join(root, "operator"));
    expect(() => createOperator(join(root, "operator"))).toThrow(refusal("bad-file", join(root, "operator")));
    expect(readCredentials(join(root, "operator")).signer.publicKey).toBe(first.signer.publicKey);
  });

  it.each(["", "a b", "_run", "a.b", "x".repeat(65)])("refuse the name %j", (name) => {
    const { signer } = createOperator(join(root, "operator"));
    expect(() => createCredentials(join(root, "x"), { role: "agent", name, operator: signer })).toThrow(
      refusal("bad-argument"),
    );
    expect(existsSync(join(root, "x"))).toBe(false);
  });
});

describe("reading credentials", () => {
  let folder: string;
  const change = (file: string, edit: (text: string) => string): void => {
    const path = join(folder, file);
    writeFileSync(path, edit(readFileSync(path, "utf8")));
  };
  beforeEach(() => {
    const { signer } = createOperator(join(root, "operator"));
    folder = join(root, "guard-g1");
    createCredentials(folder, { role: "guard", name: "g1", operator: signer });
  });

  it.each([
    ["a folder that others can write to", 0o777, "", "key-exposed", "chmod 0700"],
    ["an exposed signing key", 0o644, "signing.seed", "key-exposed", "chmod 0600"],
    ["an exposed connection key", 0o640, "connection.seed", "key-exposed", "chmod 0600"],
    ["a trust file that others can change", 0o666, "trust.json", "key-exposed", "can change it"],
  ])("Q2 refuses %s", (_, mode, file, code, words) => {
    chmodSync(join(folder, file), mode);
    expect(() => readCredentials(folder)).toThrow(refusal(code, words));
  });

  it.each([
    ["text that is not JSON", "identity.json", () => "{", "bad-file", "is not JSON"],
    ["a list", "trust.json", () => "[]", "bad-file", "must be a JSON object"],
    [
      "a newer version",
      "identity.json",
      (t: string) => t.replace('"version": 1', '"version": 2'),
      "unknown-version",
      "has version 2",
    ],
    ["no version", "trust.json", () => "{}", "unknown-version", "has version none"],
    ["an unknown role", "identity.json", (t: string) => t.replace('"guard"', '"warden"'), "bad-file", "role"],
    ["a wrong name", "identity.json", (t: string) => t.replace('"g1"', '"g 1"'), "bad-file", "name"],
    [
      "another name than the certificate's",
      "identity.json",
      (t: string) => t.replace('"g1"', '"g2"'),
      "untrusted-key",
      "somebody else",
    ],
    [
      "a wildcard as inbox",
      "identity.json",
      (t: string) => t.replace("_IN.guard.g1", "_IN.>"),
      "bad-file",
      "inboxPrefix",
    ],
    [
      "servers that are no list",
      "identity.json",
      (t: string) => t.replace("{", '{"servers": 4222,'),
      "bad-file",
      "servers",
    ],
    [
      "another operator",
      "trust.json",
      () => JSON.stringify({ version: 1, operator: createSigner(createSeed()).publicKey }),
      "untrusted-key",
      "not signed by the operator",
    ],
    ["an operator that is no key", "trust.json", () => '{"version":1,"operator":"me"}', "bad-file", "operator"],
    ["another signing key", "signing.seed", () => createSeed(), "untrusted-key", "another signing key"],
    ["a signing key that is none", "signing.seed", () => "secret", "bad-key", "signing.seed"],
    [
      "a changed certificate",
      "certificate.json",
      (t: string) => t.replace(/"signature": "../, '"signature": "AA'),
      "untrusted-key",
      "certificate",
    ],
    [
      "a certificate cut short",
      "certificate.json",
      (t: string) => t.replace(/"signature": "[^"]*"/, '"signature": "AAAA"'),
      "bad-file",
      "signature",
    ],
  ])("Q2 refuses %s", (_, file, edit, code, words) => {
    change(file, edit);
    expect(() => readCredentials(folder)).toThrow(refusal(code, words));
  });

  it("Q2 refuses one key for both purposes", () => {
    change("connection.seed", () => readFileSync(join(folder, "signing.seed"), "utf8"));
    expect(() => readCredentials(folder)).toThrow(refusal("untrusted-key", "the same"));
  });

  it("Q2 says what is missing", () => {
    for (const file of ["certificate.json", "trust.json", "signing.seed"]) {
      rmSync(join(folder, file));
      expect(() => readCredentials(folder)).toThrow(refusal("not-found"));
    }
    expect(() => readCredentials(join(root, "none"))).toThrow(refusal("not-found", join(root, "none")));
    expect(() => readCredentials(join(root, "operator", "trust.json"))).toThrow(refusal("bad-file", "is no folder"));
  });

  it("travel in one text for an environment variable", () => {
    const text = exportCredentials(folder);
    expect(text).toMatch(/^[A-Za-z0-9_-]+$/);
    const [{ signer, ...parsed }, { signer: own, ...read }] = [parseCredentials(text), readCredentials(folder)];
    expect(parsed).toEqual(read);
    expect(signer.publicKey).toBe(own.publicKey);
  });

  it("Q2 say which variable is wrong, and never what it holds", () => {
    const text = exportCredentials(folder);
    for (const wrong of ["", "no credentials!", text.slice(0, 40), text.slice(4)]) {
      expect(() => parseCredentials(wrong, "CANDOR_CREDENTIALS")).toThrow(refusal("bad-file", "CANDOR_CREDENTIALS"));
    }
    expect(() => parseCredentials(Buffer.from('{"version":1}').toString("base64url"))).toThrow(
      refusal("bad-file", "identity"),
    );
  });

  it("certificates stand in public files of their own", () => {
    const { certificate } = readCredentials(folder);
    if (certificate === undefined) expect.unreachable();
    const path = join(root, "guard-g1.json");
    writeFileSync(path, formatCertificate(certificate));
    expect(readCertificateFile(path)).toEqual({ ...certificate, signature: Uint8Array.from(certificate.signature) });
  });
});
