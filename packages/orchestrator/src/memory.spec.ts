import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hex, sha256, silentLogger, utf8 } from "@candor/contract";
import { compareWithLog, type LogPort } from "./memory-check.js";
import { merged, parseRecollection, writeRecollection, type OwnIntent, type Recollection } from "./memory-file.js";
import { Memory } from "./memory.js";

const operator = "U".padEnd(56, "A");
const hashOf = (text: string): string => hex(sha256(utf8(text)));

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "candor-memory-"));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

const open = (): Promise<Memory> => Memory.open(folder, operator, "f1", silentLogger);

const verdict = { sequence: 12, subject: "candor.vd.3.r1.t1.disclosure", hash: hashOf("verdict") };
const checkpoint = { sequence: 9, subject: "candor.checkpoint.3", hash: hashOf("note"), size: 100, root: "cm9vdA==" };
const intent: OwnIntent = {
  run: "r1",
  task: "t1",
  lane: 3,
  sequence: 5,
  hash: hashOf("intent"),
  control: 1,
  epoch: 1,
};

describe("B9 an orchestrator's memory", () => {
  it("outlives the process, in a file of its owner's alone", async () => {
    const memory = await open();
    memory.sawVerdict(verdict);
    memory.sawCheckpoint(3, checkpoint);
    memory.storedIntent(intent);
    await memory.flush();
    const again = await open();
    expect(again.recollection).toEqual({ verdict, lanes: { 3: checkpoint }, intents: { "r1/t1": intent } });
    const [name, ...others] = await readdir(folder);
    expect(others).toEqual([]);
    expect((await stat(join(folder, name ?? ""))).mode & 0o777).toBe(0o600);
  });

  it("never goes back to an older verdict", async () => {
    const memory = await open();
    memory.sawVerdict(verdict);
    memory.sawVerdict({ ...verdict, sequence: 3 });
    expect(memory.recollection.verdict?.sequence).toBe(12);
  });

  it("keeps what a replica of the fleet wrote meanwhile", async () => {
    const [one, other] = [await open(), await open()];
    one.sawVerdict({ ...verdict, sequence: 40 });
    await one.flush();
    other.sawVerdict(verdict);
    other.storedIntent(intent);
    await other.flush();
    const { recollection } = await open();
    expect(recollection.verdict?.sequence).toBe(40);
    expect(recollection.intents["r1/t1"]).toEqual(intent);
  });

  it("forgets the intents of a closed run", async () => {
    const memory = await open();
    memory.storedIntent(intent);
    await memory.flush();
    memory.forgetRun("r1");
    await memory.flush();
    expect((await open()).recollection.intents).toEqual({});
  });

  it("writes without being asked", async () => {
    const memory = await open();
    memory.sawVerdict(verdict);
    await expect.poll(() => readFile(memory.path ?? "", "utf8").catch(() => "")).toContain(verdict.hash);
  });

  it.each(["", "{", '{"version":2}', JSON.stringify({ version: 1, operator: "another", lanes: {}, intents: {} })])(
    "is not silently begun anew when its file reads %j",
    async (text) => {
      const memory = await open();
      memory.sawVerdict(verdict);
      await memory.flush();
      await writeFile(memory.path ?? "", text);
      await expect(open()).rejects.toMatchObject({ code: "bad-file" });
    },
  );

  it("reads what it wrote, and takes the later of two, entry by entry", () => {
    const seen = fc.record({
      sequence: fc.nat(),
      subject: fc.constant(verdict.subject),
      hash: fc.constant(verdict.hash),
    });
    const recollection: fc.Arbitrary<Recollection> = fc.record(
      {
        verdict: seen,
        lanes: fc.dictionary(
          fc.constantFrom("0", "1", "2"),
          seen.map((one) => ({ ...checkpoint, ...one })),
        ),
        intents: fc.dictionary(
          fc.constantFrom("r1/t1", "r1/t2"),
          fc.nat().map((sequence) => ({ ...intent, sequence })),
        ),
      },
      { requiredKeys: ["lanes", "intents"] },
    );
    fc.assert(
      fc.property(recollection, recollection, (a, b) => {
        expect(parseRecollection(writeRecollection(a, operator), operator)).toEqual(a);
        const both = merged(a, b);
        expect(both.verdict?.sequence).toBe(
          a.verdict || b.verdict ? Math.max(a.verdict?.sequence ?? -1, b.verdict?.sequence ?? -1) : undefined,
        );
        for (const [key, entry] of Object.entries(both.intents)) {
          expect(entry.sequence).toBe(Math.max(a.intents[key]?.sequence ?? -1, b.intents[key]?.sequence ?? -1));
        }
      }),
    );
  });
});

describe("B9 comparing memory and log", () => {
  const remembered: Recollection = { verdict, lanes: { 3: checkpoint }, intents: { "r1/t1": intent } };
  const same: LogPort = {
    lastVerdict: () => Promise.resolve(20),
    seen: (sequence) => Promise.resolve(sequence === 12 ? verdict : checkpoint),
    lastCheckpoint: () => Promise.resolve(checkpoint),
    lastIntent: () => Promise.resolve(intent),
  };
  const compare = (there: Partial<LogPort>): Promise<void> =>
    compareWithLog(remembered, { ...same, ...there }, "/memory.json", 0);

  it("is content with the same log, and with one that went on", async () => {
    await compare({});
    await compare({
      lastVerdict: () => Promise.resolve(500),
      lastCheckpoint: () => Promise.resolve({ ...checkpoint, sequence: 60, size: 150, hash: hashOf("later") }),
      lastIntent: () => Promise.resolve({ sequence: 90, hash: hashOf("later") }),
    });
  });

  it("waits for a replica that is behind", async () => {
    let looks = 0;
    const lastVerdict = (): Promise<number> => Promise.resolve((looks += 1) < 3 ? 11 : 12);
    await compareWithLog(remembered, { ...same, lastVerdict }, "/memory.json", 5_000);
    expect(looks).toBe(3);
  });

  it.each<[string, Partial<LogPort>, number]>([
    ["the verdicts end before the last one seen", { lastVerdict: () => Promise.resolve(11) }, 12],
    [
      "another message has the place of the last verdict",
      { seen: (at) => Promise.resolve(at === 12 ? { ...verdict, hash: hashOf("other") } : checkpoint) },
      12,
    ],
    ["the lane has no checkpoint", { lastCheckpoint: () => Promise.resolve(undefined) }, 9],
    ["the lane is smaller", { lastCheckpoint: () => Promise.resolve({ ...checkpoint, size: 99 }) }, 9],
    ["the lane's root differs", { lastCheckpoint: () => Promise.resolve({ ...checkpoint, root: "b3RoZXI=" }) }, 9],
    [
      "the old checkpoint is gone though there is a later one",
      {
        lastCheckpoint: () => Promise.resolve({ ...checkpoint, sequence: 30, size: 300 }),
        seen: (at) => Promise.resolve(at === 12 ? verdict : undefined),
      },
      9,
    ],
    ["its own intent is gone", { lastIntent: () => Promise.resolve(undefined) }, 5],
    ["an older intent is the last", { lastIntent: () => Promise.resolve({ sequence: 2, hash: hashOf("o") }) }, 5],
    [
      "another intent has the place of its own",
      { lastIntent: () => Promise.resolve({ sequence: 5, hash: hashOf("o") }) },
      5,
    ],
  ])("says so when %s", async (_, there, sequence) => {
    await expect(compare(there)).rejects.toMatchObject({
      code: "log-rolled-back",
      details: { lane: 3, sequence },
    });
  });
});
