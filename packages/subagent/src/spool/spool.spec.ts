import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hex } from "@candor/contract";
import { frameRecord, readRecords } from "./record-file.js";
import { decodeSpoolRecord, encodeSpoolRecord, type SpoolRecord } from "./spool-record.js";
import { Spool } from "./spool.js";

const place = { actor: "a", run: "r", task: "t", epoch: 1, delegation: new Uint8Array(32).fill(7) };
let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "candor-spool-"));
});
afterEach(() => {
  rmSync(root, { recursive: true });
});

const bytes = fc.uint8Array({ minLength: 1, maxLength: 40 });

describe("R11 spool file", () => {
  it("gives back every whole record, wherever a crash cut the file", () => {
    fc.assert(
      fc.property(fc.array(bytes, { maxLength: 8 }), (records) => {
        const framed = records.map(frameRecord);
        const file = Buffer.concat(framed);
        for (let cut = 0; cut <= file.length; cut += 1) {
          let whole = 0;
          for (let end = 0; whole < framed.length && end + (framed[whole]?.length ?? 0) <= cut; whole += 1) {
            end += framed[whole]?.length ?? 0;
          }
          expect(readRecords(file.subarray(0, cut)).records.map(hex)).toEqual(records.slice(0, whole).map(hex));
        }
      }),
      { numRuns: 40 },
    );
  });

  it("takes no damaged record: the last is cut off, one in the middle ends the spool", () => {
    fc.assert(
      fc.property(fc.array(bytes, { minLength: 2, maxLength: 6 }), fc.nat(), fc.boolean(), (records, at, last) => {
        const index = last ? records.length - 1 : at % (records.length - 1);
        const framed = records.map(frameRecord);
        const damaged = framed[index] as Uint8Array;
        damaged[damaged.length - 1] = (damaged.at(-1) ?? 0) ^ 1;
        const file = Buffer.concat(framed);
        if (last) expect(readRecords(file).records.map(hex)).toEqual(records.slice(0, -1).map(hex));
        else expect(() => readRecords(file)).toThrow(expect.objectContaining({ code: "spool-lost" }));
      }),
    );
  });

  it("codes every record", () => {
    const records: SpoolRecord[] = [
      { type: "opened", delegation: new Uint8Array(32), taskKey: "U" },
      { type: "event", seq: 1, kind: "accept", frame: Uint8Array.of(1), expect: { subject: "s", sequence: 0 } },
      { type: "event", seq: 2, kind: "error", frame: Uint8Array.of(1) },
      { type: "stored", seq: 1, sequence: 9 },
      { type: "refused", seq: 2 },
      { type: "result", key: "k", dispatch: 2, result: Uint8Array.of(3) },
      { type: "done", key: "k" },
    ];
    for (const record of records) expect(decodeSpoolRecord(encodeSpoolRecord(record))).toEqual(record);
    expect(decodeSpoolRecord(encodeSpoolRecord({ type: "stored", seq: -1, sequence: 9 }))).toBeUndefined();
  });
});

describe("R11 spool folder", () => {
  const frame = Uint8Array.of(0, 1);

  it("keeps key, events and marks over a restart, and cuts a torn tail", () => {
    const first = Spool.open(root, place);
    first.event(1, "accept", frame, { subject: "s", sequence: 0 });
    first.write({ type: "stored", seq: 1, sequence: 5 });
    first.event(2, "error", frame);
    first.event(3, "effect", frame, { subject: "s", sequence: 5 });
    first.write({ type: "refused", seq: 3 });
    first.event(3, "error", frame);
    first.close();
    const log = join(first.folder, "events.log");
    truncateSync(log, statSync(log).size - 1);
    const second = Spool.open(root, place);
    expect(second.signer.publicKey).toBe(first.signer.publicKey);
    expect(second.content.events.map(({ seq, kind, sequence }) => [seq, kind, sequence])).toEqual([
      [1, "accept", 5],
      [2, "error", undefined],
    ]);
    second.event(3, "retry", frame);
    second.close();
    const third = Spool.open(root, place);
    expect(third.content.events.at(-1)).toMatchObject({ seq: 3, kind: "retry" });
    third.close();
  });

  it("writes notes with the next record, in their order, or at the end of the turn", async () => {
    const spool = Spool.open(root, place);
    const log = join(spool.folder, "events.log");
    spool.event(1, "accept", frame);
    const before = statSync(log).size;
    spool.note({ type: "stored", seq: 1, sequence: 5 });
    expect(statSync(log).size).toBe(before);
    spool.event(2, "error", frame);
    const after = statSync(log).size;
    spool.note({ type: "stored", seq: 2, sequence: 6 });
    expect(spool.read().events.map(({ sequence }) => sequence)).toEqual([5, 6]);
    expect(statSync(log).size).toBeGreaterThan(after);
    spool.note({ type: "done", key: "k" });
    const noted = statSync(log).size;
    await new Promise((resolve) => setImmediate(resolve));
    expect(statSync(log).size).toBeGreaterThan(noted);
    spool.note({ type: "done", key: "l" });
    spool.close();
    const next = Spool.open(root, place);
    expect([...next.content.done]).toEqual(["k", "l"]);
    next.close();
  });

  it("is for its owner only, key and folder", () => {
    const spool = Spool.open(root, place);
    spool.close();
    expect(statSync(spool.folder).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(spool.folder)) expect(statSync(join(spool.folder, name)).mode & 0o077).toBe(0);
    chmodSync(join(spool.folder, "task.seed"), 0o644);
    expect(() => Spool.open(root, place)).toThrow(expect.objectContaining({ code: "key-exposed" }));
  });

  it("says so where it can't be made", () => {
    writeFileSync(join(root, "file"), "");
    expect(() => Spool.open(join(root, "file"), place)).toThrow(
      expect.objectContaining({ code: "folder-not-writable" }),
    );
  });

  it("starts over from a key of which a crash left half", () => {
    const folder = join(root, "a.r.t.1");
    mkdirSync(folder);
    writeFileSync(join(folder, "task.seed"), "SU", { mode: 0o600 });
    const spool = Spool.open(root, place);
    expect(spool.content.isFresh).toBe(true);
    spool.close();
  });

  it.each([
    [
      "the task key is gone",
      (folder: string): void => {
        unlinkSync(join(folder, "task.seed"));
      },
      place,
    ],
    ["it is another delegation's", () => undefined, { ...place, delegation: new Uint8Array(32) }],
  ])("is lost when %s", (_, change, opened) => {
    const spool = Spool.open(root, place);
    spool.event(1, "accept", frame);
    spool.close();
    change(spool.folder);
    expect(() => Spool.open(root, opened)).toThrow(expect.objectContaining({ code: "spool-lost" }));
  });
});

describe("R11 spool lock", () => {
  it("is held by one, and free again once released", () => {
    const held = Spool.open(root, place);
    expect(() => Spool.open(root, place)).toThrow(expect.objectContaining({ code: "spool-locked" }));
    held.close();
    Spool.open(root, place).close();
  });
});
