import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeValue, encodeCanonical } from "@candor/contract";
import { createSeed, createSigner, issueCertificate } from "@candor/ledger";
import { encodeKeyRecord, readKeyRecord, type KeyOutcome, type KeySigner, type KeyWriter } from "./key-record.js";

const operator = createSigner(createSeed());
const deployment = createSigner(createSeed());
const certificate = issueCertificate(operator, { role: "agent", name: "payer", key: deployment.publicKey });
const signer: KeySigner = { taskKey: createSigner(createSeed()), deployment, certificate };
const writer: KeyWriter = { run: "r", task: "t", epoch: 2, actor: "payer" };
const done: KeyOutcome = { type: "done", dispatch: 7, identifiers: { id: "p-1" }, result: Uint8Array.of(1, 2) };
const expected = { operator: operator.publicKey, run: "r", task: "t", key: "k" };
const good = encodeKeyRecord("k", writer, done, signer);

describe("F7 a record of what came of an intent key", () => {
  it("says who said it, of which epoch, and what", () => {
    expect(readKeyRecord(good, expected)).toEqual({ epoch: 2, actor: "payer", outcome: { ...done, arguments: undefined }, bytes: good }); // prettier-ignore
    const nothing = encodeKeyRecord("k", writer, { type: "void" }, signer);
    expect(readKeyRecord(nothing, expected)?.outcome).toEqual({ type: "void" });
  });

  it("leaves out a result that is too long", () => {
    const long = encodeKeyRecord("k", writer, { ...done, result: new Uint8Array(70_000) }, signer);
    expect(readKeyRecord(long, expected)?.outcome).toMatchObject({ type: "done", result: undefined });
  });

  const stranger = createSigner(createSeed());
  it.each<[string, Uint8Array]>([
    ["the operator certified nobody of that name", encodeKeyRecord("k", writer, done, { ...signer, certificate: issueCertificate(stranger, { role: "agent", name: "payer", key: deployment.publicKey }) })],
    ["a guard wrote it", encodeKeyRecord("k", writer, done, { ...signer, certificate: issueCertificate(operator, { role: "guard", name: "payer", key: deployment.publicKey }) })],
    ["another identity bound the task key", encodeKeyRecord("k", writer, done, { ...signer, deployment: stranger })],
    ["it names another agent", encodeKeyRecord("k", { ...writer, actor: "fetcher" }, done, signer)],
    ["it is about another key", encodeKeyRecord("l", writer, done, signer)],
    ["it is about another task", encodeKeyRecord("k", { ...writer, task: "u" }, done, signer)],
    ["it is about another run", encodeKeyRecord("k", { ...writer, run: "s" }, done, signer)],
    ["the signature is another one", encodeCanonical({ ...(decodeValue(good) as object), signature: new Uint8Array(64) })],
    ["the result was put in afterwards", encodeCanonical({ ...(decodeValue(good) as object), body: encodeCanonical({ ...writer, key: "k", ...done, result: Uint8Array.of(9) }) })],
  ])("is nobody's word if %s", (_, bytes) => { expect(readKeyRecord(bytes, expected)).toBeUndefined(); }); // prettier-ignore

  it("is nobody's word if it is garbage or was changed, and never throws", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(readKeyRecord(bytes, expected)).toBeUndefined();
      }),
    );
    fc.assert(
      fc.property(fc.nat(good.length - 1), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const changed = good.slice();
        changed[at] = (changed[at] ?? 0) ^ flip;
        expect(readKeyRecord(changed, expected)).toBeUndefined();
      }),
      { numRuns: 50 },
    );
  });
});
