import { afterEach, describe, expect, it } from "vitest";
import { EventStream, Publisher, readAt, type Bus, type LaneReaderOptions } from "@candor/bus";
import { CandorError, laneOf, streams, utf8, type StoredMessage } from "@candor/contract";
import { readLane, type LaneReading } from "../kit/lane-reading.js";
import { startServer, type StartServerOptions, type TestServer } from "../kit/start-server.js";

const run = "r1";
const lane = laneOf(run, 16);
const filter = `candor.log.${lane}.>`;
const subject = (kind = "error"): string => `candor.in.agent.a1.${run}.t.${kind}`;
const text = ({ data }: StoredMessage): string => new TextDecoder().decode(data);

let open: TestServer | undefined;
const start = async (options: StartServerOptions = {}): Promise<TestServer> => {
  open = await startServer(options);
  return open;
};
afterEach(async () => {
  await open?.close();
  open = undefined;
});

async function until(condition: () => boolean, what: string): Promise<void> {
  const deadline = performance.now() + 45_000;
  while (!condition()) {
    if (performance.now() > deadline) throw new CandorError("defect", `It did not come to this: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const read = (bus: Bus, options: Partial<LaneReaderOptions> = {}): LaneReading => readLane(bus, filter, options);

async function store(bus: Bus, from: number, to: number): Promise<void> {
  const events = new EventStream(bus, { answerMs: 500 });
  for (let i = from; i < to; i += 1) await events.send(subject(), utf8(`e${i}`));
  await events.flush();
  events.close();
}

const numbered = (from: number, to: number): string[] => Array.from({ length: to - from }, (_, i) => `e${from + i}`);

describe("lane reader", () => {
  it("reads what is stored and what comes, as stored", async () => {
    const server = await start();
    const agent = await server.connect("agent", "a1");
    const guard = await server.connect("guard", "g1");
    await store(agent, 0, 500);
    const { reader, messages } = read(guard);
    await reader.caughtUp();
    expect(messages.map(text)).toEqual(numbered(0, 500));
    await store(agent, 500, 600);
    await until(() => messages.length === 600, "600 messages");
    expect(messages.map(text)).toEqual(numbered(0, 600));
    expect(reader.position).toBe(600);
    const there = await readAt(guard, streams.log, 77);
    expect(messages[76]).toEqual({ ...there, data: Uint8Array.from(there?.data ?? []) });
    await reader.close();
  });

  it("gives the header block as stored", async () => {
    const server = await start();
    const fleet = await server.connect("orchestrator", "f1");
    const guard = await server.connect("guard", "g1");
    await new Publisher(fleet).publish({
      subject: `candor.in.orch.f1.${run}.t.intent`,
      bytes: utf8("x"),
      expect: { sequence: 0, subject: `candor.log.${lane}.${run}.t.orch.f1.intent` },
      headers: { "x-odd": "  1" },
    });
    const { reader, messages } = read(guard);
    await reader.caughtUp();
    const there = await readAt(guard, streams.log, 1);
    expect(there?.headers?.length).toBeGreaterThan(20);
    expect(Buffer.from(messages[0]?.headers ?? [])).toEqual(Buffer.from(there?.headers ?? []));
    await reader.close();
  });

  it("begins where it is told to, and is caught up on an empty lane at once", async () => {
    const server = await start();
    const agent = await server.connect("agent", "a1");
    const guard = await server.connect("guard", "g1");
    const empty = read(guard);
    await empty.reader.caughtUp();
    await store(agent, 0, 10);
    const { reader, messages } = read(guard, { from: 8 });
    await reader.caughtUp();
    expect(messages.map(({ seq }) => seq)).toEqual([8, 9, 10]);
    await Promise.all([reader.close(), empty.reader.close()]);
  });

  it("asks for no more than is taken, and knows how far it is behind", async () => {
    const server = await start();
    const agent = await server.connect("agent", "a1");
    const guard = await server.connect("guard", "g1");
    await store(agent, 0, 1_000);
    let release: (() => void) | undefined;
    let taken = 0;
    const { reader } = read(guard, {
      maxOutstanding: 100,
      onMessages: (batch) => {
        taken += batch.length;
        return new Promise((resolve) => {
          release = resolve;
        });
      },
    });
    await until(() => taken > 0, "a first batch");
    await until(() => taken + reader.pending === 1_000, "the rest counted");
    expect(taken).toBeLessThanOrEqual(100);
    while (taken < 1_000) {
      const next = release;
      release = undefined;
      next?.();
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    expect(taken).toBe(1_000);
    release?.();
    await reader.close();
  });

  it("through the clients' API prefix gives the same", async () => {
    const server = await start();
    const agent = await server.connect("agent", "a1");
    const auditor = await server.connect("auditor");
    await store(agent, 0, 300);
    const { reader, messages } = read(auditor, { filter: [`candor.log.${lane}.${run}.t.agent.>`, "candor.log.99.>"] });
    await reader.caughtUp();
    expect(messages.map(text)).toEqual(numbered(0, 300));
    await reader.close();
  });

  it("S27 goes on without a gap after kill -9 and restart of the server", async () => {
    const server = await start();
    const agent = await server.connect("agent", "a1");
    const guard = await server.connect("guard", "g1");
    const checks: number[] = [];
    const { reader, messages, halts } = read(guard, {
      checkBefore: (position) => {
        checks.push(position);
        return Promise.resolve();
      },
    });
    let n = 0;
    for (let round = 0; round < 3; round += 1) {
      await store(agent, n, n + 200);
      n += 200;
      await until(() => messages.length === n, `${n} messages`);
      await server.server.kill();
      await server.server.restart();
    }
    await store(agent, n, n + 200);
    await until(() => new Set(messages.map(text)).size === n + 200, "all messages");
    const seqs = messages.map(({ seq }) => seq);
    expect(seqs).toEqual(Array.from({ length: seqs.length }, (_, i) => i + 1));
    expect(reader.restarts).toBeGreaterThanOrEqual(3);
    expect(checks[0]).toBe(0);
    expect(checks.length).toBeGreaterThanOrEqual(4);
    expect(halts).toEqual([]);
    await reader.close();
  });

  it("S27 notices by itself that its consumer is gone", async () => {
    const server = await start();
    const agent = await server.connect("agent", "a1");
    const guard = await server.connect("guard", "g1");
    const operator = await server.connect("operator");
    const { reader, messages } = read(guard);
    await reader.caughtUp();
    for await (const consumer of operator.jsm.consumers.list(streams.log)) {
      await operator.jsm.consumers.delete(streams.log, consumer.name);
    }
    await store(agent, 0, 50);
    await until(() => messages.length === 50, "all messages");
    expect(messages.map(text)).toEqual(numbered(0, 50));
    await reader.close();
  });

  it("B9 halts when the check before reading says that the log was rolled back", async () => {
    const server = await start();
    const agent = await server.connect("agent", "a1");
    const guard = await server.connect("guard", "g1");
    await store(agent, 0, 10);
    const { messages, halts, reader } = read(guard, {
      from: 6,
      checkBefore: (position) =>
        Promise.reject(new CandorError("log-rolled-back", `position ${position} is not what it was`)),
    });
    await until(() => halts.length === 1, "a halt");
    expect(halts[0]).toMatchObject({ code: "log-rolled-back", message: "position 5 is not what it was" });
    expect(messages).toEqual([]);
    await reader.close();
  });

  it("stops loudly when handling a message fails", async () => {
    const server = await start();
    const agent = await server.connect("agent", "a1");
    const guard = await server.connect("guard", "g1");
    await store(agent, 0, 1);
    const { halts } = read(guard, { onMessages: () => Promise.reject(new CandorError("defect", "no")) });
    await until(() => halts.length === 1, "a halt");
    expect(halts[0]).toMatchObject({ code: "defect" });
  });

  it(
    "S28 goes on without a gap on three nodes while the leader is killed under load",
    { timeout: 120_000 },
    async () => {
      const server = await start({ nodes: 3 });
      const agent = await server.connect("agent", "a1");
      const guard = await server.connect("guard", "g1");
      const operator = await server.connect("operator");
      const { reader, messages, halts } = read(guard);
      const events = new EventStream(agent, { answerMs: 500, window: 64 });
      let n = 0;
      const loading = new AbortController();
      const load = (async () => {
        while (!loading.signal.aborted) {
          await events.send(subject(), utf8(`e${n}`));
          n += 1;
          if (n % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 2));
        }
        await events.flush();
      })();
      for (let round = 0; round < 2; round += 1) {
        const before = messages.length;
        await until(() => messages.length > before + 500, "load");
        const { cluster } = await operator.jsm.streams.info(streams.log);
        const leader = server.nodes.find(({ serverName }) => serverName === cluster?.leader);
        await leader?.kill();
        const after = messages.length;
        await until(() => messages.length > after + 500, "messages with one node down");
        await leader?.restart();
      }
      loading.abort();
      await load;
      await until(() => new Set(messages.map(text)).size === n, "all messages");
      const seqs = messages.map(({ seq }) => seq);
      expect(seqs).toEqual(Array.from({ length: seqs.length }, (_, i) => i + 1));
      expect(halts).toEqual([]);
      events.close();
      await reader.close();
    },
  );
});
