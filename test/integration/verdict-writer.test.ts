import { afterEach, describe, expect, it } from "vitest";
import { quarantineSubject, encodeCanonical, streams } from "@candor/contract";
import { faultyWire, type FaultyWire } from "../kit/faulty-wire.js";
import { startServer, type StartServerOptions, type TestServer } from "../kit/start-server.js";
import {
  expectExactlyOnce,
  foldOutput,
  record,
  storedRecords,
  subjectOf,
  until,
  writerLane as lane,
  writing,
} from "../kit/verdict-writing.js";

let open: TestServer | undefined;
const wires: FaultyWire[] = [];
const start = async (options: StartServerOptions = {}): Promise<TestServer> => {
  open = await startServer({
    identities: { guard: ["g1", "g2"], agent: [], auditor: [], prober: [], orchestrator: [] },
    ...options,
  });
  return open;
};
afterEach(async () => {
  await Promise.all(wires.splice(0).map((wire) => wire.close()));
  await open?.close();
  open = undefined;
});

describe("B5 verdict writer", () => {
  it("stores every record once, in order on its subject", async () => {
    const server = await start();
    const bus = await server.connect("guard", "g1");
    const { writer } = writing(bus, "g1");
    for (const one of foldOutput(40, 10)) writer.write(one);
    writer.write({
      kind: "quarantine",
      subject: quarantineSubject({ lane, actor: "a1", logSeq: 7 }),
      ordinal: 1,
      body: encodeCanonical({ code: "malformed" }),
    });
    expect(writer.pending).toBe(401);
    await writer.drain();
    expect(writer.pending).toBe(0);
    expect(writer.stats).toEqual({ stored: 401, adopted: 0, lost: 0, repeated: 0, diverged: 0 });
    const found = await storedRecords(bus);
    expectExactlyOnce(
      found.filter(({ subject }) => subject.startsWith("candor.vd.")),
      40,
      10,
    );
    writer.close();
  });

  it("adopts what is stored already when it starts again, from anywhere", async () => {
    const server = await start();
    const bus = await server.connect("guard", "g1");
    const first = writing(bus, "g1");
    const all = foldOutput(10, 6);
    for (const one of all.slice(0, 45)) first.writer.write(one);
    await first.writer.drain();
    first.writer.close();
    for (const from of [0, 20, 40]) {
      const again = writing(bus, "g1");
      for (const one of all.slice(from)) again.writer.write(one);
      await again.writer.drain();
      expect(again.divergences.concat(again.faults)).toEqual([]);
      again.writer.close();
    }
    expectExactlyOnce(await storedRecords(bus), 10, 6);
  });

  it("two guards at once store nothing twice, and one of them stands by", async () => {
    const server = await start();
    const buses = [await server.connect("guard", "g1"), await server.connect("guard", "g2")];
    const both = buses.map((bus, i) => writing(bus, `g${i + 1}`));
    for (const [i, one] of foldOutput(5, 120).entries()) {
      for (const { writer } of both) writer.write(one);
      if (i % 5 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await Promise.all(both.map(({ writer }) => writer.drain()));
    const [bus] = buses;
    if (bus === undefined) return expect.unreachable();
    expectExactlyOnce(await storedRecords(bus), 5, 120);
    const [a, b] = both.map(({ writer }) => writer.stats);
    expect((a?.stored ?? 0) + (b?.stored ?? 0)).toBe(600);
    expect((a?.adopted ?? 0) + (b?.adopted ?? 0)).toBe(600);
    expect((a?.lost ?? 0) + (b?.lost ?? 0)).toBeLessThan(300);
    expect(both.some(({ writer }) => writer.isStandby)).toBe(true);
    for (const { writer, divergences, faults } of both) {
      expect(divergences.concat(faults)).toEqual([]);
      writer.close();
    }
  });

  it("the one that stands by takes over within a moment, without a lease", async () => {
    const server = await start();
    const a = writing(await server.connect("guard", "g1"), "g1");
    const b = writing(await server.connect("guard", "g2"), "g2");
    let ordinal = 0;
    const both = async (): Promise<void> => {
      ordinal += 1;
      a.writer.write(record(0, ordinal));
      b.writer.write(record(0, ordinal));
      await Promise.all([a.writer.drain(), b.writer.drain()]);
    };
    for (let i = 0; i < 30 || !(a.writer.isStandby || b.writer.isStandby); i += 1) await both();
    const [gone, stays] = a.writer.isStandby ? [b, a] : [a, b];
    const storedByStandby = stays.writer.stats.stored;
    gone.writer.close();
    const begun = performance.now();
    stays.writer.write(record(0, ordinal + 1));
    await stays.writer.drain();
    expect(stays.writer.stats.stored).toBe(storedByStandby + 1);
    expect(performance.now() - begun).toBeLessThan(1_000);
    expect(stays.writer.isStandby).toBe(false);
    stays.writer.close();
  });

  it("guard-divergence: another content in a record's place is an alarm, and nothing more goes on that subject", async () => {
    const server = await start();
    const bus = await server.connect("guard", "g1");
    const a = writing(bus, "g1");
    a.writer.write(record(0, 1, "one"));
    await a.writer.drain();
    const b = writing(await server.connect("guard", "g2"), "g2");
    for (const one of [record(0, 1, "another"), record(0, 2), record(1, 1)]) b.writer.write(one);
    await b.writer.drain();
    expect(b.divergences).toHaveLength(1);
    expect(b.divergences[0]).toMatchObject({
      code: "guard-divergence",
      details: { subject: subjectOf(0), ordinal: 1 },
    });
    expect((await storedRecords(bus)).map(({ subject }) => subject)).toEqual([subjectOf(0), subjectOf(1)]);
  });

  it("B9 stops when a record that was stored is gone", async () => {
    const server = await start();
    const { writer, faults } = writing(await server.connect("guard", "g1"), "g1");
    writer.write(record(0, 5));
    await expect(writer.drain()).rejects.toMatchObject({ code: "log-rolled-back" });
    expect(faults).toHaveLength(1);
  });

  it("B7 stops with permission-denied where it may not store", async () => {
    const server = await start();
    const { writer, faults } = writing(await server.connect("guard", "g1"), "g1");
    writer.write({ ...record(0, 1), subject: "candor.elsewhere.x" });
    await expect(writer.drain()).rejects.toMatchObject({ code: "permission-denied" });
    expect(faults).toHaveLength(1);
  });

  it("S30 waits while the store is full, and loses nothing", async () => {
    const server = await start();
    const operator = await server.connect("operator");
    const bus = await server.connect("guard", "g1");
    await operator.jsm.streams.update(streams.verdicts, { max_bytes: 4_096 });
    const { writer, faults } = writing(bus, "g1");
    for (const one of foldOutput(10, 10)) writer.write(one);
    await until(() => writer.stats.repeated > 20, "a full store");
    expect(writer.pending).toBeGreaterThan(50);
    await operator.jsm.streams.update(streams.verdicts, { max_bytes: -1 });
    await writer.drain();
    expect(faults).toEqual([]);
    expectExactlyOnce(await storedRecords(bus), 10, 10);
    writer.close();
  });

  it("S29 a record whose answer was lost is found again, not stored twice", async () => {
    const server = await start();
    const wire = await faultyWire(server.server.port);
    wires.push(wire);
    const bus = await server.connect("guard", "g1", { servers: wire.url });
    const { writer } = writing(bus, "g1");
    for (let ordinal = 1; ordinal <= 20; ordinal += 1) {
      wire.holdAnswers();
      for (let task = 0; task < 5; task += 1) writer.write(record(task, ordinal));
      await new Promise((resolve) => setTimeout(resolve, 5));
      if (ordinal % 2 === 0) wire.cut();
      else wire.release();
      await writer.drain();
    }
    expect(writer.stats.adopted).toBeGreaterThan(0);
    expectExactlyOnce(await storedRecords(await server.connect("guard", "g2")), 5, 20);
    writer.close();
  });

  it("a guard that was cut off and comes back with old records stores none of them twice", async () => {
    const server = await start();
    const wire = await faultyWire(server.server.port);
    wires.push(wire);
    const zombie = writing(await server.connect("guard", "g1", { servers: wire.url }), "g1", { answerMs: 60_000 });
    zombie.writer.write(record(0, 1));
    await zombie.writer.drain();
    wire.holdRequests();
    for (let ordinal = 2; ordinal <= 4; ordinal += 1) zombie.writer.write(record(0, ordinal));
    const heir = writing(await server.connect("guard", "g2"), "g2");
    for (let ordinal = 1; ordinal <= 6; ordinal += 1) heir.writer.write(record(0, ordinal));
    await heir.writer.drain();
    wire.release();
    await zombie.writer.drain();
    expectExactlyOnce(await storedRecords(await server.connect("guard", "g2")), 1, 6);
    expect(zombie.divergences.concat(zombie.faults)).toEqual([]);
    zombie.writer.close();
    heir.writer.close();
  });
});
