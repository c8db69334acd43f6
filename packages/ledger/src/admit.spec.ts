import {
  decodeBody,
  encodeBody,
  encodeCanonical,
  encodeFrame,
  encodePayload,
  eventHash,
  limits,
  parseStoredSubject,
  storedSubject,
  subjectKind,
  type EventBody,
  type StoredAddress,
  type StoredMessage,
} from "@candor/contract";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { admit } from "./admit.js";
import { readKnownHeader } from "./header.js";
import { scan } from "./scan.js";

const retry = encodePayload("retry", {
  operation: "inventory.lookup",
  upstream: "inventory-db",
  attempt: 2,
  reason: 3,
  delayMs: 250,
  outcome: "ok",
});
const close = encodePayload("close", { standing: { epoch: 1, state: "closed" }, state: "accepted" });
const signature = new Uint8Array(64).fill(5);

const retryBody: EventBody = {
  kind: "retry",
  run: "r1",
  task: "t1",
  epoch: 1,
  role: "agent",
  actor: "fetcher",
  seq: 4,
  prev: new Uint8Array(32).fill(9),
  at: 1_780_000_000_000,
  payload: retry,
};
const closeBody: EventBody = { ...retryBody, kind: "close", role: "orch", actor: "fleet", payload: close };

function subjectOf(body: EventBody): string {
  return storedSubject({ ...body, lane: 3, kind: subjectKind(body.role, body.kind) });
}

function stored(data: Uint8Array, subject = subjectOf(retryBody)): StoredMessage {
  return { seq: 17, timeMs: 1_780_000_000_123, subject, data };
}

/** The body's members as they lie in the array, to put wrong ones in. */
function members(body: EventBody, changes: Readonly<Record<number, unknown>> = {}): Uint8Array {
  const { kind, run, task, epoch, role, actor, seq, prev, at, payload } = body;
  return encodeCanonical(
    [1, kind, run, task, epoch, role, actor, seq, prev, at, payload].map((v, i) => changes[i] ?? v),
  );
}

describe("admit", { timeout: 60_000 }, () => {
  it("admits an event with all that the fold needs", () => {
    const body = encodeBody(retryBody);
    const data = encodeFrame(body);
    expect(admit(stored(data))).toEqual({
      type: "event",
      kind: "retry",
      seq: 17,
      timeMs: 1_780_000_000_123,
      subject: "candor.log.3.r1.t1.agent.fetcher.retry",
      actorToken: "fetcher",
      event: retryBody,
      payload: {
        operation: "inventory.lookup",
        upstream: "inventory-db",
        attempt: 2,
        reason: 3,
        delayMs: 250,
        outcome: "ok",
      },
      hash: eventHash(body),
      signature: undefined,
      data,
    });
  });

  it("admits intents, whose subjects say `intent`", () => {
    const entry = admit(stored(encodeFrame(encodeBody(closeBody), signature), subjectOf(closeBody)));
    expect(entry).toMatchObject({ type: "event", kind: "close", actorToken: "fleet", signature });
  });

  it.each([
    ["no frame", new Uint8Array(), "malformed", "frame"],
    ["an unknown flag", Uint8Array.of(2, 0xc0), "malformed", "frame"],
    ["a body that is no msgpack", Uint8Array.of(0, 0xc1), "malformed", "body"],
    ["a body that is no array", encodeFrame(encodeCanonical({ kind: "retry" })), "malformed", "body"],
    ["an integer in the long form", encodeFrame(Uint8Array.of(0xcc, 1)), "non-canonical", "body"],
    ["bytes after the body", Uint8Array.of(...encodeFrame(encodeBody(retryBody)), 0xc0), "malformed", "body"],
    ["a message over the limit", new Uint8Array(limits.maxMessageBytes + 1), "too-large", "frame"],
    ["another version", encodeFrame(members(retryBody, { 0: 2 })), "unknown-version", "version"],
    ["an unknown kind", encodeFrame(members(retryBody, { 1: "rumour" })), "unknown-kind", "kind"],
    ["a kind of another role", encodeFrame(members(retryBody, { 1: "probe" })), "malformed", "role"],
    ["an epoch of 0", encodeFrame(members(retryBody, { 4: 0 })), "malformed", "epoch"],
    ["a short hash", encodeFrame(members(retryBody, { 8: new Uint8Array(31) })), "malformed", "prev"],
    ["a payload that is no map", encodeFrame(members(retryBody, { 10: encodeCanonical([]) })), "malformed", "payload"],
    [
      "a payload with unsorted keys",
      encodeFrame(members(retryBody, { 10: Uint8Array.of(0x82, 0xa1, 0x62, 1, 0xa1, 0x61, 1) })),
      "non-canonical",
      "payload",
    ],
    [
      "a payload with an unknown field",
      encodeFrame(
        members(retryBody, {
          10: encodeCanonical({ operation: "o", attempt: 2, reason: 1, delayMs: 0, outcome: "ok", more: 1 }),
        }),
      ),
      "malformed",
      "payload",
    ],
    [
      "an unknown outcome",
      encodeFrame(
        members(retryBody, {
          10: encodeCanonical({ operation: "o", attempt: 2, reason: 1, delayMs: 0, outcome: "maybe" }),
        }),
      ),
      "unknown-type",
      "payload.outcome",
    ],
    ["another run than the subject's", encodeFrame(encodeBody({ ...retryBody, run: "r2" })), "subject-mismatch", "run"],
    ["another task", encodeFrame(encodeBody({ ...retryBody, task: "t2" })), "subject-mismatch", "task"],
    ["another actor", encodeFrame(encodeBody({ ...retryBody, actor: "payer" })), "subject-mismatch", "actor"],
    ["another role", encodeFrame(encodeBody(closeBody), signature), "subject-mismatch", "role"],
  ])("B3 refuses %s", (_, data, code, path) => {
    const entry = admit(stored(data));
    const { data: bytes, ...rest } = entry;
    expect(bytes).toBe(data);
    expect(rest).toMatchObject({ type: "refused", code, path, seq: 17, actorToken: "fetcher" });
    expect(entry.type === "refused" && entry.sentence.length).toBeGreaterThan(0);
  });

  it("B3 refuses another kind than the subject's", () => {
    const subject = subjectOf(retryBody).replace(/retry$/, "error");
    expect(admit(stored(encodeFrame(encodeBody(retryBody)), subject))).toMatchObject({
      type: "refused",
      code: "subject-mismatch",
      path: "kind",
    });
  });

  it.each(["candor.log.3", "candor.log.x.r1.t1.agent.fetcher.retry", "elsewhere.3.r1.t1.agent.fetcher.retry", ""])(
    "B3 refuses a good event under the subject %j",
    (subject) => {
      expect(admit(stored(encodeFrame(encodeBody(retryBody)), subject))).toMatchObject({
        type: "refused",
        code: "subject-mismatch",
        path: "subject",
      });
    },
  );

  it("B4 says `unknown-kind` even when the subject names the unknown kind too", () => {
    const subject = subjectOf(retryBody).replace(/retry$/, "rumour");
    expect(admit(stored(encodeFrame(members(retryBody, { 1: "rumour" })), subject))).toMatchObject({
      code: "unknown-kind",
    });
  });

  it.each(["probe", "timer", "close"] as const)(
    "B7 refuses a %s by an agent, even on a subject that agrees",
    (kind) => {
      const word = subjectKind("agent", kind);
      const subject = subjectOf(retryBody).replace(/retry$/, word);
      const entry = admit(stored(encodeFrame(members(retryBody, { 1: kind }), signature), subject));
      expect(entry).toMatchObject({ type: "refused", code: "malformed", path: "role" });
    },
  );

  it("B3 refuses an agent's event on the run itself, even on a subject that agrees", () => {
    const subject = subjectOf(retryBody).replace(".t1.", "._run.");
    const entry = admit(stored(encodeFrame(members(retryBody, { 3: "_run" })), subject));
    expect(entry).toMatchObject({ type: "refused", code: "malformed", path: "task" });
  });

  it("B3 refuses an intent without a signature", () => {
    const entry = admit(stored(encodeFrame(encodeBody(closeBody)), subjectOf(closeBody)));
    expect(entry).toMatchObject({ type: "refused", code: "unsigned", actorToken: "fleet" });
  });

  it("never throws, and refuses or admits by the same bytes, whatever was changed", () => {
    const frames = [encodeFrame(encodeBody(retryBody)), encodeFrame(encodeBody(closeBody), signature)];
    const change = fc.record({ at: fc.nat(), byte: fc.nat({ max: 255 }), cut: fc.boolean() });
    const outcomes = new Set<string>();
    fc.assert(
      fc.property(fc.constantFrom(...frames), fc.array(change, { minLength: 1, maxLength: 3 }), (frame, changes) => {
        let data = frame.slice();
        for (const { at, byte, cut } of changes) {
          if (cut) data = data.slice(0, at % (data.length + 1));
          else if (data.length > 0) data[at % data.length] = byte;
        }
        const entry = admit(stored(data));
        outcomes.add(entry.type);
        if (entry.type !== "event") return;
        const body = data.subarray(1, data.length - (data[0] === 1 ? 64 : 0));
        expect(Buffer.compare(encodeBody(entry.event), body)).toBe(0);
      }),
      { numRuns: 1500 },
    );
    expect(outcomes).toContain("refused");
  });

  it("never throws on random bytes and subjects", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), fc.string(), (data, subject) => {
        expect(admit(stored(data, subject)).type).toBe("refused");
      }),
    );
  });
});

describe("the short cut through a known header", { timeout: 60_000 }, () => {
  const id = fc.stringMatching(/^[A-Za-z0-9-][A-Za-z0-9_-]{0,63}$/);
  const size = fc.oneof(fc.integer({ min: 1, max: 70_000 }), fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }));
  const agentBody = fc.record<EventBody>({
    kind: fc.constantFrom("error", "retry", "effect", "report"),
    run: id,
    task: id,
    epoch: size,
    role: fc.constant("agent"),
    actor: id,
    seq: size,
    prev: fc.uint8Array({ minLength: 32, maxLength: 32 }),
    at: fc.maxSafeNat(),
    payload: fc.constantFrom(0, 3, 255, 256, 65_535, 65_536).map((length) => new Uint8Array(length)),
  });
  const decodedOrNothing = (bytes: Uint8Array): EventBody | undefined => {
    try {
      return decodeBody(bytes);
    } catch {
      return undefined;
    }
  };
  const addressOf = (body: EventBody): StoredAddress | undefined => parseStoredSubject(subjectOf(body));

  it("reads what decoding reads", () => {
    fc.assert(
      fc.property(agentBody, (body) => {
        const address = addressOf(body);
        const bytes = encodeBody(body);
        const read = address === undefined ? undefined : readKnownHeader(bytes, address);
        if (read === undefined) expect.unreachable();
        expect(Buffer.compare(encodeBody(read), bytes)).toBe(0);
        expect(Buffer.compare(encodeBody(decodeBody(bytes)), bytes)).toBe(0);
      }),
    );
  });

  it("answers nothing, or the same as decoding, for any canonical bytes", () => {
    const address = addressOf(retryBody);
    if (address === undefined) expect.unreachable();
    const odd = fc.oneof(
      fc.integer(),
      fc.constant(null),
      fc.uint8Array({ maxLength: 40 }),
      fc.string({ maxLength: 9 }),
      fc.constant([]),
      fc.constant(-1),
      fc.constant(0.5),
    );
    fc.assert(
      fc.property(fc.nat({ max: 10 }), odd, (index, value) => {
        const bytes = members(retryBody, { [index]: value });
        scan(bytes);
        const read = readKnownHeader(bytes, address);
        const decoded = decodedOrNothing(bytes);
        if (read !== undefined) expect(read).toEqual(decoded);
        else if (decoded !== undefined) expect(subjectOf(decoded)).not.toBe(subjectOf(retryBody));
      }),
    );
  });

  it("leaves intents and the run itself to decoding", () => {
    const address = addressOf(closeBody);
    if (address === undefined) expect.unreachable();
    expect(readKnownHeader(encodeBody(closeBody), address)).toBeUndefined();
  });
});
