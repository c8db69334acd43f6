import { afterEach, describe, expect, it } from "vitest";
import {
  apiRequest,
  readLast,
  VerdictWriter,
  type Bus,
  type UnsignedRecord,
  type VerdictWriterOptions,
} from "@candor/bus";
import {
  CandorError,
  decodeSigned,
  decodeValue,
  encodeCanonical,
  quarantineSubject,
  streams,
  verdictSubject,
  type Certificate,
} from "@candor/contract";
import { faultyWire, type FaultyWire } from "../kit/faulty-wire.js";
import { storedMessages } from "../kit/stored-messages.js";
import { startServer, type StartServerOptions, type TestServer } from "../kit/start-server.js";

const lane = 3;
const subjectOf = (task: number): string => verdictSubject({ lane, run: "r", task: `t${task}`, judge: "disclosure" });

/** Stands in for a verdict: the writer looks at nothing but the ordinal. */
function record(task: number, ordinal: number, text = "same"): UnsignedRecord {
  return { kind: "verdict", subject: subjectOf(task), ordinal, body: encodeCanonical({ ordinal, task, text }) };
}

/** What a fold of some log would bring forth: records of several subjects, mixed. */
function foldOutput(tasks: number, each: number): UnsignedRecord[] {
  return Array.from({ length: each }, (_, i) =>
    Array.from({ length: tasks }, (__, task) => record(task, i + 1)),
  ).flat();
}

const certificate = (name: string): Certificate => ({
  role: "guard",
  name,
  key: "U".padEnd(56, "A"),
  signature: new Uint8Array(64),
});

interface Writing {
  readonly writer: VerdictWriter;
  readonly divergences: CandorError[];
  readonly faults: CandorError[];
}

function writing(bus: Bus, name: string, options: Partial<VerdictWriterOptions> = {}): Writing {
  const divergences: CandorError[] = [];
  const faults: CandorError[] = [];
  const writer = new VerdictWriter(bus, {
    lane,
    certificate: certificate(name),
    sign: () => new Uint8Array(64).fill(name.charCodeAt(1)),
    onDivergence: (error) => divergences.push(error),
    onFault: (error) => faults.push(error),
    answerMs: 500,
    ...options,
  });
  return { writer, divergences, faults };
}

interface Found {
  readonly subject: string;
  readonly seq: number;
  readonly ordinal: number;
  readonly guard: string;
}

async function storedRecords(bus: Bus): Promise<Found[]> {
  const messages = await storedMessages(bus, streams.verdicts);
  return messages.map(({ subject, seq, data }) => {
    const { body, certificate: by } = decodeSigned(data);
    const { ordinal = 1 } = decodeValue(body) as { ordinal?: number };
    return { subject, seq, ordinal, guard: by.name };
  });
}

/** B5: each record of every subject once, in order. */
function expectExactlyOnce(found: readonly Found[], tasks: number, each: number): void {
  const bySubject = new Map<string, number[]>();
  for (const { subject, ordinal } of found) bySubject.set(subject, [...(bySubject.get(subject) ?? []), ordinal]);
  const wanted = Array.from({ length: each }, (_, i) => i + 1);
  for (let task = 0; task < tasks; task += 1) expect(bySubject.get(subjectOf(task)), subjectOf(task)).toEqual(wanted);
  expect(found).toHaveLength(tasks * each);
}

async function until(condition: () => boolean, what: string): Promise<void> {
  const deadline = performance.now() + 45_000;
  while (!condition()) {
    if (performance.now() > deadline) throw new CandorError("defect", `It did not come to this: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

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

  /** Guards that are cut off at random moments and start over, each from an earlier place of the same fold. */
  async function chaos(server: TestServer, kill: () => Promise<void>): Promise<void> {
    const all = foldOutput(7, 60);
    const guard = async (name: string, seed: number): Promise<number> => {
      let crashes = 0;
      for (;;) {
        const bus = await server.connect("guard", name, { connectTimeoutMs: 20_000 });
        const { writer, divergences, faults } = writing(bus, name);
        const crashAt = crashes < 12 ? 1 + Math.floor(Math.random() * all.length) : all.length + 1;
        // A restart begins at a checkpoint, up to which all records are stored: here, at the beginning.
        for (const [i, one] of all.entries()) {
          writer.write(one);
          if ((i + seed) % 3 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
          if (i === crashAt) break;
        }
        expect(divergences.concat(faults)).toEqual([]);
        if (crashAt > all.length) {
          await writer.drain();
          writer.close();
          return crashes;
        }
        crashes += 1;
        writer.close();
        await bus.nc.close();
      }
    };
    const [first, second] = await Promise.all([guard("g1", 0), guard("g2", 1), kill()]);
    expect(first + second).toBe(24);
    expectExactlyOnce(await storedRecords(await server.connect("operator")), 7, 60);
  }

  it(
    "two guards on one lane, cut off at random, and the server killed: no record lost, doubled or out of order",
    { timeout: 120_000 },
    async () => {
      const server = await start();
      await chaos(server, async () => {
        for (let i = 0; i < 3; i += 1) {
          await new Promise((resolve) => setTimeout(resolve, 500));
          await server.server.kill();
          await server.server.restart();
        }
      });
    },
  );

  it("the same on three nodes, with the leader killed", { timeout: 180_000 }, async () => {
    const server = await start({ nodes: 3 });
    const operator = await server.connect("operator");
    await chaos(server, async () => {
      for (let i = 0; i < 2; i += 1) {
        await new Promise((resolve) => setTimeout(resolve, 500));
        const answer = await apiRequest(
          operator.nc,
          `$JS.API.STREAM.INFO.${streams.verdicts}`,
          undefined,
          20_000,
          1_000,
        );
        const { leader: name } = (answer.ok ? answer.body["cluster"] : {}) as { leader?: string };
        const leader = server.nodes.find(({ serverName }) => serverName === name);
        await leader?.kill();
        await new Promise((resolve) => setTimeout(resolve, 1_000));
        await leader?.restart();
      }
    });
    expect(await readLast(operator, streams.verdicts, subjectOf(0))).toBeDefined();
  });
});
