import { randomBytes } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { EventStream, type Bus, type LaneReaderOptions } from "@candor/bus";
import { laneOf, streams, utf8, type StoredMessage } from "@candor/contract";
import { until } from "../kit/guard-stage.js";
import { readLane, type LaneReading } from "../kit/lane-reading.js";
import { startServer, type TestServer } from "../kit/start-server.js";

const lanes = 4;
const own = "r1";
const lane = laneOf(own, lanes);
/** Runs of the other lanes. */
const foreign = Array.from({ length: 40 }, (_, i) => `f${i}`).filter((run) => laneOf(run, lanes) !== lane);
const filter = `candor.log.${lane}.>`;
const text = ({ data }: StoredMessage): string => new TextDecoder().decode(data);
const numbered = (to: number): string[] => Array.from({ length: to }, (_, i) => `e${i}`);

let open: TestServer | undefined;
afterEach(async () => {
  await open?.close();
  open = undefined;
});

interface Stage {
  readonly server: TestServer;
  readonly guard: Bus;
  /** Stores messages of our lane by number, with as many foreign ones between them. */
  readonly store: (from: number, to: number) => Promise<void>;
  readonly send: (run: string, bytes: Uint8Array) => Promise<void>;
  /** Filters of the consumers that the server has on the log, the empty text for none. */
  readonly consumers: () => Promise<string[]>;
}

async function start(): Promise<Stage> {
  const server = await startServer({ lanes });
  open = server;
  const agent = await server.connect("agent", "a1");
  const operator = await server.connect("operator");
  const events = new EventStream(agent, { answerMs: 500 });
  const send = async (run: string, bytes: Uint8Array): Promise<void> => {
    await events.send(`candor.in.agent.a1.${run}.t.error`, bytes);
  };
  return {
    server,
    guard: await server.connect("guard", "g1"),
    send: async (run, bytes) => {
      await send(run, bytes);
      await events.flush();
    },
    store: async (from, to) => {
      for (let i = from; i < to; i += 1) {
        await send(foreign[i % foreign.length] ?? "", utf8(`f${i}`));
        await send(own, utf8(`e${i}`));
      }
      await events.flush();
    },
    consumers: async () => {
      const filters: string[] = [];
      for await (const { config } of operator.jsm.consumers.list(streams.log))
        filters.push(config.filter_subject ?? "");
      return filters;
    },
  };
}

const read = (bus: Bus, options: Partial<LaneReaderOptions> = {}): LaneReading => readLane(bus, filter, options);

/** A reader that stops after its first batch until it is released. */
function readHeld(bus: Bus): LaneReading & { readonly first: Promise<void>; readonly release: () => void } {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  let begin = (): void => undefined;
  const first = new Promise<void>((resolve) => (begin = resolve));
  const messages: StoredMessage[] = [];
  const reading = read(bus, {
    onMessages: (batch) => {
      messages.push(...batch);
      begin();
      return held;
    },
  });
  return { ...reading, messages, first, release };
}

describe("Q4 a lane that is a good part of a long stream", () => {
  it("is read without a filter among foreign messages, then with one, without a gap or a repeat", async () => {
    const { guard, store, consumers } = await start();
    await store(0, 6_000);
    const { reader, messages, halts, first, release } = readHeld(guard);
    await first;
    await until(async () => (await consumers()).join() === "");
    expect(await consumers()).toEqual([""]);
    release();
    await reader.caughtUp();
    await until(() => messages.length >= 6_000);
    await until(async () => (await consumers()).join() === filter);
    // While it changes over, and after it.
    await store(6_000, 6_300);
    await until(() => messages.length >= 6_300);
    await store(6_300, 6_301);
    await until(() => messages.length >= 6_301);
    expect(messages.map(text)).toEqual(numbered(6_301));
    expect(halts).toEqual([]);
    await reader.close();
  });

  it("loses and doubles nothing that is stored while it changes over", async () => {
    const { guard, store } = await start();
    await store(0, 5_500);
    const { reader, messages } = read(guard);
    await Promise.all([store(5_500, 8_000), until(() => messages.length >= 8_000)]);
    expect(messages.map(text)).toEqual(numbered(8_000));
    await reader.close();
  });

  it("S27 is read on without a gap or a repeat after kill -9 of the server in the middle", async () => {
    const { server, guard, store, consumers } = await start();
    await store(0, 6_000);
    const { reader, messages, first, release } = readHeld(guard);
    await first;
    await until(async () => (await consumers()).join() === "");
    await server.server.kill();
    await server.server.restart();
    release();
    await until(() => messages.length >= 6_000);
    await store(6_000, 6_010);
    await until(() => messages.length >= 6_010);
    expect(messages.map(text)).toEqual(numbered(6_010));
    await reader.close();
  });

  it("is read with a filter while it is short", async () => {
    const { guard, store, consumers } = await start();
    await store(0, 300);
    const few = read(guard);
    await few.reader.caughtUp();
    expect(await consumers()).toEqual([filter]);
    await few.reader.close();
  });

  it("B9 halts at a damaged block that a wide consumer met first", async () => {
    const { server, guard, store, send } = await start();
    for (let i = 0; i < 60; i += 1) await send(own, randomBytes(200_000));
    await store(0, 6_000);
    await server.server.stop();
    const folder = join(server.server.dataDir, "jetstream", "LOG", "streams", streams.log, "msgs");
    const bytes = await readFile(join(folder, "1.blk"));
    bytes.writeUInt8(bytes.readUInt8(bytes.length >> 1) ^ 0x10, bytes.length >> 1);
    await writeFile(join(folder, "1.blk"), bytes);
    expect((await readdir(folder)).filter((name) => name.endsWith(".blk")).length).toBeGreaterThan(1);
    await server.server.restart();
    const { messages, halts } = read(guard);
    await until(() => halts.length > 0);
    expect(halts).toMatchObject([{ code: "log-truncated", details: { stream: streams.log, seq: 1 } }]);
    expect(messages).toEqual([]);
  });
});
