import {
  encodeBody,
  encodeFrame,
  encodePayload,
  eventHash,
  storedSubject,
  zeroHash,
  type StoredMessage,
} from "@candor/contract";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Checkpoint } from "../checkpoint.js";
import { leafHash } from "../leaf.js";
import { createMerkleTree } from "../merkle/tree.js";
import { checkLog } from "./log-check.js";

const laneCount = 2;
const retry = encodePayload("retry", { operation: "o", attempt: 2, reason: 1, delayMs: 0, outcome: "ok" });

interface Fixture {
  readonly log: StoredMessage[];
  readonly checkpoints: Checkpoint[];
}

/** Two tasks a lane, their events taking turns, and a checkpoint of each lane every ten of its messages. */
function makeLog(perTask = 12): Fixture {
  const authors = Array.from({ length: laneCount * 2 }, (_, index) => ({
    lane: index % laneCount,
    task: `t${index}`,
    prev: zeroHash,
  }));
  const trees = Array.from({ length: laneCount }, () => createMerkleTree());
  const log: StoredMessage[] = [];
  const checkpoints: Checkpoint[] = [];
  for (let number = 1; number <= perTask; number++) {
    for (const author of authors) {
      const { lane, task } = author;
      const address = { run: `r${lane}`, task, role: "agent", actor: "a" } as const;
      const body = encodeBody({
        ...address,
        kind: "retry",
        epoch: 1,
        seq: number,
        prev: author.prev,
        at: number,
        payload: retry,
      });
      author.prev = eventHash(body);
      const seq = log.length + 1;
      const message = {
        seq,
        timeMs: 1000 + seq,
        subject: storedSubject({ ...address, lane, kind: "retry" }),
        data: encodeFrame(body),
      };
      log.push(message);
      const tree = trees[lane];
      const leaf = leafHash(message);
      tree?.append(leaf);
      if (tree === undefined || tree.size % 10 !== 0) continue;
      checkpoints.push({
        lane,
        size: tree.size,
        root: tree.root(),
        position: seq,
        timeMs: message.timeMs,
        leaf,
        fold: 1,
        policies: [],
      });
    }
  }
  return { log, checkpoints };
}

const { log, checkpoints } = makeLog();
const laneOf = (message: StoredMessage | undefined): number => Number(message?.subject.split(".")[2]);
const lastPinned = Math.max(...checkpoints.map(({ position }) => position));

describe("B9 whole-log check", { timeout: 60_000 }, () => {
  it("finds nothing in a log that nobody touched", () => {
    const report = checkLog(log, checkpoints);
    expect(report).toMatchObject({ messages: log.length, refused: 0, findings: [], chains: [] });
    expect([...report.lanes.values()].map(({ tree }) => tree.size)).toEqual([24, 24]);
    expect(report.lanes.get(0)?.position).toBe(47);
  });

  it("finds nothing when events of an author came out of order or twice", () => {
    const [first, second] = [log[0], log[4]];
    if (first === undefined || second === undefined) expect.unreachable();
    const swapped = log.map((message, index) => {
      const from = index === 0 ? second : index === 4 ? first : message;
      return { ...message, data: from.data };
    });
    const again = { ...first, seq: log.length + 1 };
    expect(checkLog([...swapped, again], [])).toMatchObject({ findings: [], chains: [] });
  });

  it("S24 names lane and sequence of a removed message, wherever it was under a checkpoint", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: lastPinned - 1 }), (index) => {
        const removed = log[index];
        const covered = checkpoints.some(({ lane, position }) => lane === laneOf(removed) && position >= index + 1);
        const { findings } = checkLog(
          log.filter((message) => message !== removed),
          checkpoints,
        );
        expect(findings).toHaveLength(1);
        expect(findings[0]).toMatchObject({
          code: "log-truncated",
          seq: index + 1,
          lane: covered ? laneOf(removed) : undefined,
        });
        expect(findings[0]?.sentence).toContain(String(index + 1));
      }),
    );
  });

  it("names a removed message that no checkpoint covers, and an end that the server still counts", () => {
    const [finding, ...rest] = checkLog(
      log.filter(({ seq }) => seq !== 3),
      [],
    ).findings;
    expect(rest).toEqual([]);
    expect(finding).toMatchObject({ code: "log-truncated", lane: undefined, seq: 3 });
    expect(checkLog(log.slice(0, 40), [], { lastSeq: 48 }).findings).toMatchObject([
      { code: "log-truncated", seq: 41 },
    ]);
  });

  it("names lane and stretch of a changed message, whichever byte it was", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: lastPinned - 1 }),
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        (index, at, flip) => {
          const changed = log.map((message, i) => {
            if (i !== index) return message;
            const data = message.data.slice();
            data[at % data.length] = (data[at % data.length] ?? 0) ^ flip;
            return { ...message, data };
          });
          const pinned = checkpoints.find(({ lane, position }) => lane === laneOf(log[index]) && position >= index + 1);
          const { findings } = checkLog(changed, checkpoints);
          expect(findings.map(({ code, lane }) => [code, lane])).toEqual(
            pinned === undefined ? [] : [["log-altered", pinned.lane]],
          );
          for (const { from, to } of findings) expect([from <= index + 1, to >= index + 1]).toEqual([true, true]);
        },
      ),
    );
  });

  it.each([
    ["time", (message: StoredMessage) => ({ ...message, timeMs: message.timeMs + 1 })],
    ["headers", (message: StoredMessage) => ({ ...message, headers: Uint8Array.of(1) })],
    ["subject", (message: StoredMessage) => ({ ...message, subject: message.subject.replace(".a.", ".b.") })],
  ])("finds a changed %s", (_, change) => {
    const { findings } = checkLog(
      log.map((message, index) => (index === 7 ? change(message) : message)),
      checkpoints,
    );
    expect(findings).toHaveLength(1);
    expect(findings[0]).toMatchObject({ code: "log-altered", lane: 1 });
    expect(findings[0]?.from).toBeLessThanOrEqual(8);
    expect(findings[0]?.to).toBeGreaterThanOrEqual(8);
  });

  it.each([
    ["no event any more", 0],
    ["disowned by the next event", 59],
    ["disowned, and at odds with the event before", 40],
  ])("names the very sequence of a changed message that is %s", (_, at) => {
    const changed = log.map((message) =>
      message.seq === 9 ? { ...message, data: message.data.with(at, 0x7f) } : message,
    );
    expect(checkLog(changed, checkpoints).findings).toMatchObject([{ code: "log-altered", lane: 0, seq: 9, from: 1 }]);
  });

  it("finds messages that were put in", () => {
    const extra = log[0];
    if (extra === undefined) expect.unreachable();
    const moved = [extra, ...log].map((message, index) => ({ ...message, seq: index + 1 }));
    const { findings } = checkLog(moved, checkpoints);
    expect(findings.map(({ code }) => code)).toContain("log-altered");
  });

  it("S26 names lane and sequence when the log ends before a checkpoint", () => {
    const [last] = checkpoints.filter(({ lane }) => lane === 1).slice(-1);
    const { findings } = checkLog(log.slice(0, 30), checkpoints);
    expect(findings).toContainEqual(
      expect.objectContaining({ code: "log-rolled-back", lane: 1, seq: last?.position, from: 21 }),
    );
    expect(findings.map(({ code }) => code)).toEqual(["log-rolled-back", "log-rolled-back"]);
    expect(checkLog([], checkpoints).findings).toHaveLength(laneCount);
  });

  it("finds a log that was rolled back and then went on", () => {
    const other = makeLog(20).log.map((message) =>
      message.seq > 30 ? { ...message, timeMs: message.timeMs + 60_000 } : message,
    );
    const { findings } = checkLog(other, checkpoints);
    expect(findings.map(({ code, lane }) => [code, lane])).toEqual([
      ["log-altered", 0],
      ["log-altered", 1],
    ]);
  });

  it("finds a log that runs backwards, and messages under foreign subjects", () => {
    const [first, second] = log;
    if (first === undefined || second === undefined) expect.unreachable();
    expect(checkLog([second, first], [], { filtered: true }).findings).toMatchObject([{ code: "log-altered", seq: 1 }]);
    expect(checkLog([{ ...first, subject: "elsewhere" }], []).findings).toMatchObject([
      { code: "log-altered", seq: 1 },
    ]);
  });

  it("does not mind missing sequences when only one lane is read", () => {
    const lane = log.filter((message) => laneOf(message) === 1);
    const own = checkpoints.filter((checkpoint) => checkpoint.lane === 1);
    expect(checkLog(lane, own, { filtered: true, lastSeq: log.length })).toMatchObject({ findings: [], chains: [] });
    const [removed, ...rest] = lane;
    expect(checkLog(rest, own, { filtered: true }).findings).toMatchObject([
      { code: "log-truncated", lane: 1, seq: 20, from: 1 },
    ]);
    expect(removed?.seq).toBe(2);
  });
});

describe("D1 chains in the whole-log check", { timeout: 60_000 }, () => {
  it("name a gap, a fork and a broken chain by lane and sequence", () => {
    const author = log.filter(({ subject }) => subject.includes(".t0."));
    const without = author.filter((_, index) => index !== 3);
    expect(checkLog(without, [], { filtered: true }).chains).toMatchObject([
      { code: "log-gap", lane: 0, seq: 17, before: 9 },
    ]);

    const second = author[1];
    const last = author.at(-1);
    if (second === undefined || last === undefined) expect.unreachable();
    const other = encodeBody({
      kind: "retry",
      run: "r0",
      task: "t0",
      epoch: 1,
      role: "agent",
      actor: "a",
      seq: 12,
      prev: zeroHash,
      at: 0,
      payload: retry,
    });
    const forked = [...author, { ...last, seq: 100, data: encodeFrame(other) }];
    expect(checkLog(forked, [], { filtered: true }).chains).toMatchObject([{ code: "log-fork", lane: 0, seq: 100 }]);
    const broken = [...author.slice(0, -1), { ...last, data: encodeFrame(other) }];
    expect(checkLog(broken, [], { filtered: true }).chains).toMatchObject([
      { code: "chain-broken", lane: 0, seq: last.seq, before: 41 },
    ]);
  });

  it("count what is no event", () => {
    const [first] = log;
    if (first === undefined) expect.unreachable();
    expect(checkLog([{ ...first, data: Uint8Array.of(9) }], []).refused).toBe(1);
  });
});
