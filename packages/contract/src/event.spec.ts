import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CandorError } from "./errors.js";
import { decodeBody, decodeFrame, encodeBody, encodeFrame, eventHash, type EventBody } from "./event.js";
import { encodeCanonical } from "./msgpack.js";
import { decodePayload, encodePayload } from "./payloads/index.js";
import { kindTable, runTask, type EventKind } from "./vocabulary.js";

const idText = fc.stringMatching(/^[A-Za-z0-9-][A-Za-z0-9_-]{0,20}$/);
const event: fc.Arbitrary<EventBody> = fc
  .record({
    kind: fc.constantFrom(...(Object.keys(kindTable) as EventKind[])),
    run: idText,
    task: idText,
    actor: idText,
    epoch: fc.integer({ min: 1 }),
    seq: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    prev: fc.uint8Array({ minLength: 32, maxLength: 32 }),
    at: fc.nat(),
    payload: fc.uint8Array({ maxLength: 100 }),
  })
  .map((fields) => ({
    ...fields,
    role: kindTable[fields.kind].role,
    task: kindTable[fields.kind].ofRun ? runTask : fields.task,
  }));

function codeOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof CandorError) return `${error.code} ${error.path ?? ""}`.trim();
    throw error;
  }
  return "accepted";
}

describe("F9 event codec", () => {
  it("gives back every event it encoded, signed or not", () => {
    fc.assert(
      fc.property(event, fc.option(fc.uint8Array({ minLength: 64, maxLength: 64 })), (wanted, signature) => {
        const body = encodeBody(wanted);
        const frame = decodeFrame(encodeFrame(body, signature ?? undefined));
        expect(frame.signature).toEqual(signature ?? undefined);
        const got = decodeBody(frame.body);
        expect({ ...got, prev: [...got.prev], payload: [...got.payload] }).toEqual({
          ...wanted,
          prev: [...wanted.prev],
          payload: [...wanted.payload],
        });
      }),
    );
  });

  it("hashes the body alone, so that flag and signature change nothing", () => {
    const body = encodeBody(fc.sample(event, { numRuns: 1, seed: 1 })[0] as EventBody);
    const signed = decodeFrame(encodeFrame(body, new Uint8Array(64)));
    expect(eventHash(signed.body)).toEqual(eventHash(body));
    expect(eventHash(body)).toHaveLength(32);
  });

  const good = [1, "error", "r", "t", 1, "agent", "a", 1, new Uint8Array(32), 0, new Uint8Array(0)];
  const changed = (index: number, value: unknown): unknown[] => good.map((old, i) => (i === index ? value : old));
  it.each([
    ["no array", { a: 1 }, "malformed body"],
    ["version 2", changed(0, 2), "unknown-version version"],
    ["an unknown kind", changed(1, "erorr"), "unknown-kind kind"],
    ["a kind of another type", changed(1, 7), "unknown-kind kind"],
    ["a run with a dot", changed(2, "a.b"), "malformed run"],
    ["a task that begins with _", changed(3, "_x"), "malformed task"],
    ["epoch 0", changed(4, 0), "malformed epoch"],
    ["an unknown role", changed(5, "king"), "malformed role"],
    ["a kind of another role", changed(5, "orch"), "malformed role"],
    ["a run's kind on a task", changed(1, "run-open").map((v, i) => (i === 5 ? "orch" : v)), "malformed task"],
    ["seq as a fraction", changed(7, 1.5), "malformed seq"],
    ["a short prev", changed(8, new Uint8Array(31)), "malformed prev"],
    ["a negative clock", changed(9, -1), "malformed at"],
    ["a payload that is a map", changed(10, {}), "malformed payload"],
    ["one member too many", [...good, 0], "malformed body"],
  ])("B3 refuses %s", (_, body, code) => {
    expect(codeOf(() => decodeBody(encodeCanonical(body)))).toBe(code);
  });

  it.each([
    ["nothing", [], "malformed frame"],
    ["an unknown flag", [2, 1, 1], "malformed frame"],
    ["a signed frame without room for a signature", [1, ...Array<number>(64).fill(0)], "malformed frame"],
  ])("B3 refuses a frame of %s", (_, bytes, code) => {
    expect(codeOf(() => decodeFrame(Uint8Array.from(bytes)))).toBe(code);
  });
});

describe("B4 payload codec", () => {
  it("names the field that does not fit, and an unknown type as such", () => {
    const retry = { operation: "o", attempt: 2, reason: 1, delayMs: 0, outcome: "ok" } as const;
    expect(decodePayload("retry", encodePayload("retry", retry))).toEqual(retry);
    expect(codeOf(() => decodePayload("retry", encodeCanonical({ ...retry, attempt: 1 })))).toBe(
      "malformed payload.attempt",
    );
    expect(codeOf(() => decodePayload("retry", encodeCanonical({ ...retry, outcome: "great" })))).toBe(
      "unknown-type payload.outcome",
    );
    expect(codeOf(() => decodePayload("retry", encodeCanonical({ ...retry, extra: 1 })))).toBe("malformed payload");
    expect(
      codeOf(() => decodePayload("acknowledge", encodeCanonical({ control: 1, takenAt: 0, manifest: [{}] }))),
    ).toBe("malformed payload.manifest[0].dispatch");
  });
});
