import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { MsgHdrsImpl } from "@nats-io/transport-node";
import { EventStream, Publisher, readLast, type Bus, type Link } from "@candor/bus";
import { laneOf, streams, utf8 } from "@candor/contract";
import { storedMessages } from "../kit/stored-messages.js";
import { startServer, type TestServer } from "../kit/start-server.js";

const run = "r1";
const lane = laneOf(run, 16);
const published = (kind: string): string => `candor.in.agent.a1.${run}.t.${kind}`;
const stored = (kind: string): string => `candor.log.${lane}.${run}.t.agent.a1.${kind}`;
const intentPublished = (task: string): string => `candor.in.orch.f1.${run}.${task}.intent`;
const intentStored = (task: string): string => `candor.log.${lane}.${run}.${task}.orch.f1.intent`;

/** Swallows the answers to the first messages published on a connection: what is stored is not confirmed. */
function withoutAnswers(bus: Bus, count: number): Link {
  let left = count;
  const nc = new Proxy(bus.nc, {
    get: (target, name) => {
      if (name !== "publish") {
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === "function" ? (value.bind(target) as unknown) : value;
      }
      return (...[subject, data, options]: Parameters<Bus["nc"]["publish"]>) => {
        const isHidden = left > 0 && options?.reply !== undefined;
        if (isHidden) left -= 1;
        target.publish(subject, data, isHidden ? { ...options, reply: `${bus.inboxPrefix}.lost` } : options);
      };
    },
  });
  return { nc, apiPrefix: bus.apiPrefix, inboxPrefix: bus.inboxPrefix };
}

describe("publisher", () => {
  let server: TestServer;
  let agent: Bus;
  let fleet: Bus;
  let operator: Bus;

  const countOn = async (subject: string): Promise<number> => {
    const { state } = await operator.jsm.streams.info(streams.log, { subjects_filter: subject });
    return Object.values(state.subjects ?? {}).reduce((sum, n) => sum + n, 0);
  };

  beforeAll(async () => {
    server = await startServer();
    agent = await server.connect("agent", "a1");
    fleet = await server.connect("orchestrator", "f1");
    operator = await server.connect("operator");
  });
  afterAll(() => server.close());

  it("stores a message and says where", async () => {
    const outcome = await new Publisher(agent).publish({ subject: published("error"), bytes: utf8("one") });
    const last = await readLast(agent, streams.log, stored("error"));
    expect(outcome).toEqual({ type: "stored", seq: last?.seq });
    expect(last?.data).toEqual(utf8("one"));
  });

  it("R2 of two intents with one number stores exactly one, and the loser gets the winner", async () => {
    const publisher = new Publisher(fleet);
    const request = (text: string): Parameters<Publisher["publish"]>[0] => ({
      subject: intentPublished("race"),
      bytes: utf8(text),
      expect: { sequence: 0, subject: intentStored("race") },
    });
    const outcomes = await Promise.all([publisher.publish(request("recall")), publisher.publish(request("delegate"))]);
    expect(outcomes.map(({ type }) => type).sort()).toEqual(["lost", "stored"]);
    const lost = outcomes.find((outcome) => outcome.type === "lost");
    expect(lost).toMatchObject({
      certain: true,
      last: { data: (await readLast(fleet, streams.log, intentStored("race")))?.data },
    });
    expect(await countOn(intentStored("race"))).toBe(1);
  });

  it("the expectation holds against the stored subject, and not against the published one", async () => {
    const publisher = new Publisher(fleet);
    const first = await publisher.publish({
      subject: intentPublished("fact"),
      bytes: utf8("1"),
      expect: { sequence: 0, subject: intentStored("fact") },
    });
    expect(first.type).toBe("stored");
    // Named by its published subject, the expectation compares against nothing, so 0 is always right.
    const bare = await fleet.nc.request(intentPublished("fact"), "x", {
      timeout: 2_000,
      headers: MsgHdrsImpl.fromRecord({
        "Nats-Expected-Last-Subject-Sequence": ["0"],
        "Nats-Expected-Last-Subject-Sequence-Subject": [intentPublished("fact")],
      }),
    });
    expect(bare.json<{ seq?: number }>().seq).toBeGreaterThan(0);
    const late = await publisher.publish({
      subject: intentPublished("fact"),
      bytes: utf8("2"),
      expect: { sequence: 0, subject: intentStored("fact") },
    });
    expect(late.type).toBe("lost");
  });

  it("B10 the fence: no dispatch is stored after a newer intent, and the loser gets that intent", async () => {
    const intents = new Publisher(fleet);
    const delegate = await intents.publish({
      subject: intentPublished("t"),
      bytes: utf8("delegate"),
      expect: { sequence: 0, subject: intentStored("t") },
    });
    if (delegate.type !== "stored") return expect.unreachable();
    const dispatch = (text: string): ReturnType<Publisher["publish"]> =>
      new Publisher(agent).publish({
        subject: published("effect"),
        bytes: utf8(text),
        storedSubject: stored("effect"),
        expect: { sequence: delegate.seq, subject: intentStored("t") },
      });
    expect((await dispatch("before")).type).toBe("stored");
    const recall = await intents.publish({
      subject: intentPublished("t"),
      bytes: utf8("recall"),
      expect: { sequence: delegate.seq, subject: intentStored("t") },
    });
    expect(recall.type).toBe("stored");
    expect(await dispatch("after")).toMatchObject({ type: "lost", certain: true, last: { data: utf8("recall") } });
    expect(await countOn(stored("effect"))).toBe(1);
  });

  it("S29 a compare-and-set whose answer was lost is read back: stored once, and the outcome says so", async () => {
    const publisher = new Publisher(withoutAnswers(fleet, 1));
    const outcome = await publisher.publish({
      subject: intentPublished("s29"),
      bytes: utf8("only once"),
      expect: { sequence: 0, subject: intentStored("s29") },
    });
    const last = await readLast(fleet, streams.log, intentStored("s29"));
    expect(outcome).toEqual({ type: "stored", seq: last?.seq });
    expect(await countOn(intentStored("s29"))).toBe(1);
  });

  it("S29 a dispatch whose answer was lost and then a recall: found by look-up, so the effect is known as dispatched", async () => {
    const intents = new Publisher(fleet);
    const first = await intents.publish({
      subject: intentPublished("s29b"),
      bytes: utf8("delegate"),
      expect: { sequence: 0, subject: intentStored("s29b") },
    });
    if (first.type !== "stored") return expect.unreachable();
    const publishing = new Publisher(withoutAnswers(agent, 1)).publish({
      subject: `candor.in.agent.a1.${run}.s29b.effect`,
      bytes: utf8("charge"),
      storedSubject: `candor.log.${lane}.${run}.s29b.agent.a1.effect`,
      expect: { sequence: first.seq, subject: intentStored("s29b") },
    });
    const dispatched = await vi.waitFor(async () => {
      const found = await readLast(agent, streams.log, `candor.log.${lane}.${run}.s29b.agent.a1.effect`);
      expect(found).toBeDefined();
      return found;
    });
    await intents.publish({
      subject: intentPublished("s29b"),
      bytes: utf8("recall"),
      expect: { sequence: first.seq, subject: intentStored("s29b") },
    });
    const outcome = await publishing;
    expect(outcome).toEqual({ type: "stored", seq: dispatched?.seq });
  });

  it("says of a lost race after a lost answer that it is not certain", async () => {
    const intents = new Publisher(fleet);
    const at = (sequence: number): { sequence: number; subject: string } => ({
      sequence,
      subject: intentStored("doubt"),
    });
    const publishing = new Publisher(withoutAnswers(fleet, 1)).publish({
      subject: intentPublished("doubt"),
      bytes: utf8("mine"),
      expect: at(0),
    });
    const mine = await vi.waitFor(
      async () => {
        const found = await readLast(fleet, streams.log, intentStored("doubt"));
        expect(found).toBeDefined();
        return found;
      },
      { interval: 5 },
    );
    await intents.publish({ subject: intentPublished("doubt"), bytes: utf8("theirs"), expect: at(mine?.seq ?? 0) });
    expect(await publishing).toMatchObject({ type: "lost", certain: false, last: { data: utf8("theirs") } });
  });

  it("says of the same bytes, stored by an earlier call, that it was not this one", async () => {
    const request = {
      subject: intentPublished("twice"),
      bytes: utf8("the very same"),
      expect: { sequence: 0, subject: intentStored("twice") },
    };
    const first = await new Publisher(fleet).publish(request);
    if (first.type !== "stored") return expect.unreachable();
    expect(first.repeated).toBeUndefined();
    expect(await new Publisher(fleet).publish(request)).toEqual({ type: "stored", seq: first.seq, repeated: true });
  });

  it("S29 a plain message whose answer was lost is stored again: twice the same bytes, none lost", async () => {
    const before = await countOn(stored("retry"));
    const outcome = await new Publisher(withoutAnswers(agent, 1)).publish({
      subject: published("retry"),
      bytes: utf8("again"),
    });
    expect(outcome.type).toBe("stored");
    expect((await countOn(stored("retry"))) - before).toBe(2);
  });

  it("Q2 refusals have a code: another's subject, too large, a subject that no stream takes", async () => {
    const publisher = new Publisher(agent);
    await expect(
      publisher.publish({ subject: `candor.in.agent.a2.${run}.t.error`, bytes: utf8("x") }),
    ).rejects.toMatchObject({ code: "permission-denied" });
    await expect(
      publisher.publish({ subject: published("error"), bytes: new Uint8Array(300 * 1024) }),
    ).rejects.toMatchObject({ code: "too-large" });
    await expect(
      publisher.publish({ subject: published("error"), bytes: new Uint8Array(2 * 1024 * 1024) }),
    ).rejects.toMatchObject({ code: "too-large" });
    await expect(
      publisher.publish({ subject: `candor.in.agent.a1.${run}.t.e.f`, bytes: utf8("x"), timeoutMs: 300 }),
    ).rejects.toMatchObject({ code: "server-unreachable" });
  });
});

describe("publisher on a full store", () => {
  it("Q2 says store-full, and an event stream goes on waiting for room", async () => {
    const server = await startServer({ limits: { maxFileBytes: 2 * 1024 * 1024 } });
    try {
      const agent = await server.connect("agent", "a1");
      const bytes = new Uint8Array(200 * 1024).map(() => Math.floor(Math.random() * 256));
      const publisher = new Publisher(agent);
      const fill = async (): Promise<unknown> => {
        for (let i = 0; i < 20; i += 1) await publisher.publish({ subject: published("error"), bytes, timeoutMs: 500 });
        return undefined;
      };
      await expect(fill()).rejects.toMatchObject({ code: "store-full" });
      const events = new EventStream(agent, { answerMs: 500 });
      void events.send(published("error"), bytes);
      await expect(events.flush(500)).rejects.toMatchObject({ code: "store-full" });
      events.close();
    } finally {
      await server.close();
    }
  });
});

describe("event stream", () => {
  let server: TestServer;
  let agent: Bus;
  let operator: Bus;

  beforeAll(async () => {
    server = await startServer();
    agent = await server.connect("agent", "a1");
    operator = await server.connect("operator");
  });
  afterAll(() => server.close());

  const storedTexts = async (subject: string): Promise<string[]> => {
    const messages = await storedMessages(operator, streams.log, subject);
    return messages.map(({ data }) => new TextDecoder().decode(data));
  };

  it("stores everything in order, with a bounded number under way", async () => {
    const events = new EventStream(agent, { window: 64 });
    let answered = 0;
    for (let i = 0; i < 1_000; i += 1) {
      await events.send(published("error"), utf8(`e${i}`), () => {
        answered += 1;
      });
      expect(events.pending).toBeLessThanOrEqual(64);
    }
    await events.flush();
    expect(answered).toBe(1_000);
    expect(await storedTexts(stored("error"))).toEqual(Array.from({ length: 1_000 }, (_, i) => `e${i}`));
    events.close();
  });

  it("store() resolves with the sequence", async () => {
    const events = new EventStream(agent);
    const seqs = await Promise.all([1, 2, 3].map((n) => events.store(published("retry"), utf8(`r${n}`))));
    expect(seqs[2]).toBe((await readLast(agent, streams.log, stored("retry")))?.seq);
    expect(new Set(seqs).size).toBe(3);
    events.close();
  });

  it("S29 loses nothing when answers are lost", async () => {
    const events = new EventStream(withoutAnswers(agent, 30), { answerMs: 200 });
    for (let i = 0; i < 100; i += 1) void events.send(published("receipt"), utf8(`e${i}`));
    await events.flush();
    const texts = await storedTexts(stored("receipt"));
    expect(new Set(texts).size).toBe(100);
    events.close();
  });

  it("S27 goes on by itself after kill -9 and restart of the server, and reports the trouble", async () => {
    const troubles: (string | undefined)[] = [];
    const events = new EventStream(agent, { answerMs: 500, onTrouble: (trouble) => troubles.push(trouble?.code) });
    await events.store(published("report"), utf8("before"));
    await server.server.kill();
    for (let i = 0; i < 100; i += 1) void events.send(published("report"), utf8(`e${i}`));
    await expect(events.flush(50)).rejects.toMatchObject({ code: "publish-unconfirmed" });
    await server.server.restart();
    await events.flush();
    const texts = await storedTexts(stored("report"));
    expect(new Set(texts)).toEqual(new Set(["before", ...Array.from({ length: 100 }, (_, i) => `e${i}`)]));
    expect(troubles.at(-1)).toBeUndefined();
    events.close();
  });

  it("B7 stops with permission-denied on another's subject", async () => {
    const events = new EventStream(agent);
    await expect(events.store(`candor.in.agent.a2.${run}.t.error`, utf8("x"))).rejects.toMatchObject({
      code: "permission-denied",
    });
    expect(() => events.send(published("error"), utf8("x"))).toThrow(/won't store/);
    events.close();
  });
});
