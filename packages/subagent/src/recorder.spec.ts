import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  CandorError,
  decodeBody,
  decodeFrame,
  equalBytes,
  eventHash,
  laneOf,
  silentLogger,
  zeroHash,
  type EventBody,
  type Payload,
} from "@candor/contract";
import { verifySignature } from "@candor/ledger";
import { Recorder } from "./recorder.js";
import { MemoryBus, type Fate } from "./testing/memory-bus.js";
import { MemorySpool } from "./testing/memory-spool.js";

const place = { run: "r", task: "t", epoch: 1, actor: "a" };
const lane = laneOf("r", 16);
const intents = `candor.log.${lane}.r.t.orch.f.intent`;
const mine = `candor.log.${lane}.r.t.agent.a.*`;

function recorderOver(bus: MemoryBus, spool: MemorySpool = new MemorySpool()): Recorder {
  return new Recorder({ place: { ...place, lane }, bus, spool, onEvent: () => undefined, logger: silentLogger });
}

const note = (operation: string): Payload<"error"> => ({
  type: "transient",
  finality: "recoverable",
  recovered: true,
  operation,
  attempt: 1,
  attempts: [],
  effects: [],
});
const dispatch = { phase: "dispatched", intent: "i", key: "k", target: "t" } as const;
const outcome = (seq: number) => ({ phase: "committed", intent: "i", key: "k", target: "t", dispatch: seq }) as const;

/** The distinct events in `seq` order, after checking that they are one unbroken chain. */
function chainOf(bus: MemoryBus): EventBody[] {
  const byHash = new Map(
    bus.stored(mine).map((data) => {
      const { body } = decodeFrame(data);
      return [Buffer.from(eventHash(body)).toString("hex"), body] as const;
    }),
  );
  const events = [...byHash.values()].map((body) => ({ event: decodeBody(body), hash: eventHash(body) }));
  events.sort((a, b) => a.event.seq - b.event.seq);
  let head = zeroHash;
  for (const [index, { event, hash }] of events.entries()) {
    expect(event.seq).toBe(index + 1);
    expect(equalBytes(event.prev, head)).toBe(true);
    head = hash;
  }
  return events.map(({ event }) => event);
}

describe("D1 recorder", () => {
  it("S25 makes one unbroken chain of 1,000 concurrent records", async () => {
    const bus = new MemoryBus();
    const recorder = recorderOver(bus);
    await Promise.all(Array.from({ length: 1_000 }, (_, i) => recorder.record("error", note(`o${i}`))));
    await recorder.flush(5_000);
    expect(chainOf(bus)).toHaveLength(1_000);
    expect(recorder.pending).toBe(0);
  });

  it("S29 loses and forks nothing when answers are lost or messages vanish", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom<Fate>("stored", "stored", "unanswered", "gone"), { maxLength: 30 }),
        fc.array(fc.constantFrom("error", "dispatch"), { minLength: 1, maxLength: 12 }),
        async (fates, kinds) => {
          const bus = new MemoryBus();
          bus.add(intents, new Uint8Array());
          const left = [...fates];
          bus.fate = () => left.shift() ?? "stored";
          const recorder = recorderOver(bus);
          await Promise.all(
            kinds.map(async (kind, i) => {
              if (kind === "error") return recorder.record("error", note(`o${i}`));
              return recorder.recordBehind("effect", dispatch, () => ({ subject: intents, sequence: 1 }), 5_000);
            }),
          );
          await recorder.flush(5_000);
          expect(chainOf(bus).map(({ kind }) => kind)).toEqual(
            kinds.map((kind) => (kind === "error" ? kind : "effect")),
          );
        },
      ),
      { numRuns: 25 },
    );
  });

  it("R2 gives the number of a refused dispatch to the next event", async () => {
    const bus = new MemoryBus();
    bus.add(intents, new Uint8Array());
    const recorder = recorderOver(bus);
    await recorder.record("error", note("before"));
    bus.add(intents, new Uint8Array());
    const fence = { subject: intents, sequence: 1 };
    expect(await recorder.recordBehind("effect", dispatch, () => fence, 5_000)).toBeUndefined();
    await recorder.record("error", note("after"));
    await recorder.flush(5_000);
    expect(chainOf(bus).map(({ kind }) => kind)).toEqual(["error", "error"]);
  });

  it("S29 finds out whether a dispatch without an answer was stored before the fence broke", async () => {
    for (const fate of ["unanswered", "gone"] as const) {
      const bus = new MemoryBus();
      bus.add(intents, new Uint8Array());
      let first = true;
      bus.fate = (_, expectation) => {
        if (expectation?.subject !== intents || !first) return "stored";
        first = false;
        // The recall is stored right behind the dispatch, or instead of it.
        queueMicrotask(() => bus.add(intents, new Uint8Array()));
        return fate;
      };
      const recorder = recorderOver(bus);
      const got = await recorder.recordBehind("effect", dispatch, () => ({ subject: intents, sequence: 1 }), 5_000);
      expect(got === undefined).toBe(fate === "gone");
      await recorder.record("error", note("after"));
      await recorder.flush(5_000);
      expect(chainOf(bus).map(({ kind }) => kind)).toEqual(fate === "gone" ? ["error"] : ["effect", "error"]);
    }
  });

  it("stops rather than fork when a look-up had missed a stored dispatch", async () => {
    const bus = new MemoryBus();
    bus.add(intents, new Uint8Array());
    bus.fate = (_, expectation) =>
      expectation?.subject === intents && bus.messages.length === 1 ? "unanswered" : "stored";
    const look = bus.last.bind(bus);
    let stale = true;
    bus.last = (stream, subject) => (stale ? Promise.resolve(undefined) : look(stream, subject));
    const recorder = recorderOver(bus);
    const behind = recorder.recordBehind("effect", dispatch, () => ({ subject: intents, sequence: 1 }), 5_000);
    await Promise.resolve();
    while (bus.messages.length < 2) await new Promise(setImmediate);
    bus.add(intents, new Uint8Array());
    expect(await behind).toBeUndefined();
    stale = false;
    await expect(recorder.record("error", note("after"))).rejects.toMatchObject({ code: "spool-lost" });
    expect(chainOf(bus)).toHaveLength(1);
  });

  it("Q1 holds facts while the bus is away, and a dispatch is not tried", async () => {
    const bus = new MemoryBus();
    bus.add(intents, new Uint8Array());
    bus.away = true;
    const recorder = recorderOver(bus);
    await recorder.record("error", note("o"));
    const fence = { subject: intents, sequence: 1 };
    await expect(recorder.recordBehind("effect", dispatch, () => fence, 30)).rejects.toMatchObject({
      code: "publish-unconfirmed",
    });
    await expect(recorder.flush(10)).rejects.toMatchObject({ code: "publish-unconfirmed", details: { pending: 1 } });
    bus.reconnect();
    await recorder.flush(5_000);
    expect(chainOf(bus).map(({ kind }) => kind)).toEqual(["error"]);
  });

  it("refuses an event that is too large or malformed and leaves the chain as it was", async () => {
    const bus = new MemoryBus();
    const recorder = recorderOver(bus);
    const content = new Uint8Array(220 * 1024);
    const huge = {
      ...note("o"),
      attempts: Array.from({ length: 1_000 }, () => ({ attempt: 1, reason: 1, delayMs: 0 })),
    };
    const effects = Array.from({ length: 1_000 }, (_, i) => ({
      intent: "i".repeat(128),
      key: `k${i}`,
      identifiers: { id: "x".repeat(200) },
    }));
    await expect(recorder.record("error", { ...huge, effects })).rejects.toMatchObject({ code: "too-large" });
    await expect(recorder.record("error", { ...note("o"), attempt: 0 })).rejects.toMatchObject({
      code: "malformed",
      path: "payload.attempt",
    });
    await recorder.record("receipt", { part: 1, parts: 1, content });
    await recorder.flush(5_000);
    expect(chainOf(bus).map(({ kind }) => kind)).toEqual(["receipt"]);
  });

  it("stops for good when the server will never take an event", async () => {
    const bus = new MemoryBus();
    const recorder = recorderOver(bus);
    const error = new CandorError("permission-denied", "Not yours.");
    bus.publish = () => Promise.resolve({ outcome: "refused", error });
    await recorder.record("error", note("o"));
    await expect(recorder.flush(60_000)).rejects.toBe(error);
    await expect(recorder.record("error", note("p"))).rejects.toBe(error);
  });

  it("signs what must be signed with the task key, over the hash", async () => {
    const bus = new MemoryBus();
    const spool = new MemorySpool();
    const recorder = recorderOver(bus, spool);
    await recorder.record("no-side-effects", { control: 2, takenAt: 0 });
    await recorder.flush(5_000);
    const { body, signature } = decodeFrame(bus.stored(mine)[0] ?? new Uint8Array());
    expect(verifySignature(spool.signer.publicKey, eventHash(body), signature ?? new Uint8Array())).toBe(true);
  });
});

describe("R11 recorder after a restart", () => {
  it("sends what is unconfirmed unchanged and goes on with the next number", async () => {
    const bus = new MemoryBus();
    const spool = new MemorySpool();
    bus.fate = () => (bus.messages.length < 2 ? "stored" : "gone");
    const first = recorderOver(bus, spool);
    for (let i = 0; i < 5; i += 1) await first.record("error", note(`o${i}`));
    first.close();
    const before = bus.messages.length;
    bus.fate = () => "stored";
    const left = spool.reopen();
    const second = recorderOver(bus, left);
    expect(second.moment.last).toBe(5);
    second.resend(left.content.unstored);
    await second.record("error", note("later"));
    await second.flush(5_000);
    expect(before).toBeLessThan(5);
    expect(chainOf(bus)).toHaveLength(6);
    expect(second.moment.tally.errorCount).toBe(6);
  });

  it.each([
    ["the log has it", "unanswered", true],
    ["the fence had broken", "gone", false],
  ] as const)("finds out about a dispatch that was under way: %s", async (_, fate, stored) => {
    const bus = new MemoryBus();
    bus.add(intents, new Uint8Array());
    const spool = new MemorySpool();
    bus.fate = () => fate;
    const first = recorderOver(bus, spool);
    const fence = { subject: intents, sequence: 1 };
    void first.recordBehind("effect", dispatch, () => fence, 5_000).catch(() => undefined);
    while (spool.records.length < 2) await new Promise(setImmediate);
    await new Promise(setImmediate);
    first.close();
    bus.add(intents, new Uint8Array());
    bus.fate = () => "stored";
    const second = recorderOver(bus, spool.reopen());
    const leftover = await second.resolveLeftover();
    expect(leftover?.stored !== undefined).toBe(stored);
    if (leftover?.stored !== undefined) await second.record("effect", outcome(leftover.stored.seq));
    await second.record("error", note("after"));
    await second.flush(5_000);
    expect(chainOf(bus).map(({ kind }) => kind)).toEqual(stored ? ["effect", "effect", "error"] : ["error"]);
  });

  it("refuses a spool whose events do not follow from one another", async () => {
    const bus = new MemoryBus();
    const one = new MemorySpool();
    const two = new MemorySpool([], one.signer);
    const a = recorderOver(bus, one);
    await a.record("error", note("a"));
    await a.record("error", note("b"));
    const b = recorderOver(bus, two);
    await b.record("error", note("c"));
    const mixed = [...two.records.filter((_, i) => i < 2), ...one.records.slice(2)];
    a.close();
    b.close();
    expect(() => recorderOver(bus, new MemorySpool(mixed, one.signer))).toThrow(CandorError);
  });
});
