import {
  checkpointSubject,
  decodeVerdictBody,
  defaultPolicy,
  encodeBody,
  encodeFrame,
  encodePayload,
  encodeSigned,
  encodeVerdictBody,
  eventHash,
  foldVersion,
  guardRecordMessage,
  laneOf,
  policyHash,
  runTask,
  storedSubject,
  utf8,
  zeroHash,
  type Payload,
  type StoredMessage,
} from "@candor/contract";
import { LaneFold } from "@candor/guards";
import {
  admit,
  createMerkleTree,
  createSeed,
  createSigner,
  encodeCertificate,
  issueCertificate,
  leafHash,
  signCheckpoint,
  verifySignature,
} from "@candor/ledger";
import { describe, expect, it } from "vitest";
import { auditRun, type AuditReport } from "./audit.js";
import type { AuditSource } from "./audit-source.js";
import { Replay, type Expected } from "./replay.js";

const lanes = 2;
const run = "r";
const lane = laneOf(run, lanes);
const otherLane = 1 - lane;
const operator = createSigner(createSeed());
const fleet = createSigner(createSeed());
const guard = createSigner(createSeed());
const certificate = issueCertificate(operator, { role: "guard", name: "g1", key: guard.publicKey });

type Messages = readonly StoredMessage[];

/** A run's opening, and a message that is no event. */
function makeLog(): StoredMessage[] {
  const payload: Payload<"run-open"> = {
    policy: defaultPolicy,
    policyHash: policyHash(defaultPolicy),
    fleet: issueCertificate(operator, { role: "orch", name: "fleet", key: fleet.publicKey }),
    probers: [],
    operator: operator.publicKey,
    isolation: "separate-process",
  };
  const at = { run, task: runTask, role: "orch", actor: "fleet" } as const;
  const header = { ...at, kind: "run-open", epoch: 1, seq: 1, prev: zeroHash, at: 1 } as const;
  const body = encodeBody({ ...header, payload: encodePayload("run-open", payload) });
  const opening = encodeFrame(body, fleet.sign(eventHash(body)));
  const garbage = storedSubject({ lane, run, task: "t", role: "agent", actor: "a", kind: "error" });
  return [
    { seq: 1, timeMs: 1_000, subject: storedSubject({ ...at, lane, kind: "intent" }), data: opening },
    { seq: 2, timeMs: 1_001, subject: garbage, data: utf8("no event") },
  ];
}

function expectedOf(log: Messages): Expected[] {
  const found: Expected[] = [];
  const replay = new Replay({
    operator: operator.publicKey,
    history: () => Promise.resolve([]),
    onRecord: (record) => found.push(record),
  });
  for (const message of log) void replay.take(message, lane);
  return found;
}

function signed(kind: "verdict" | "quarantine", body: Uint8Array, signer = guard, by = certificate): Uint8Array {
  return encodeSigned({ body, certificate: by, signature: signer.sign(guardRecordMessage(kind, body)) });
}

/** What a guard says of the log, and a checkpoint behind it. */
function makeRecords(log: Messages): StoredMessage[] {
  const records = expectedOf(log).map(({ kind, subject, body }) => ({ subject, data: signed(kind, body) }));
  const tree = createMerkleTree();
  for (const message of log) tree.append(leafHash(message));
  const last = log.at(-1) as StoredMessage;
  const pinned = {
    lane,
    size: tree.size,
    root: tree.root(),
    position: last.seq,
    timeMs: last.timeMs,
    leaf: leafHash(last),
  };
  const note = signCheckpoint({ ...pinned, fold: foldVersion, policies: [] }, { name: "g1", signer: guard });
  const headers = utf8(`NATS/1.0\r\nCandor-Certificate: ${encodeCertificate(certificate)}\r\n\r\n`);
  return [...records, { subject: checkpointSubject(lane), headers, data: utf8(note) }].map((record, index) => ({
    seq: index + 1,
    timeMs: 2_000,
    ...record,
  }));
}

interface Told {
  readonly log?: Messages;
  readonly records?: Messages;
  readonly run?: string;
  readonly task?: string;
  /** What a guard stores while the audit waits. */
  readonly later?: Messages;
}

function audit({ log = makeLog(), records = makeRecords(log), later = [], ...scope }: Told = {}): Promise<AuditReport> {
  let isLater = false;
  const source: AuditSource = {
    lanes,
    readLog: async (take) => {
      await take(log);
      return { lastSeq: log.at(-1)?.seq ?? 0, lostBytes: 0 };
    },
    readRecords: async (from, take) => {
      const all = isLater ? [...records, ...later] : records;
      await take(all.filter(({ seq }) => seq >= from));
      return { lastSeq: all.at(-1)?.seq ?? 0, lostBytes: 0 };
    },
    logEnd: () => Promise.resolve(log.at(-1)?.seq ?? 0),
    history: () => Promise.resolve([]),
    isGuarded: () => {
      const isDue = later.length > 0 && !isLater;
      isLater = true;
      return Promise.resolve(isDue);
    },
  };
  return auditRun({ source, operator: operator.publicKey, ...scope });
}

const codes = ({ findings }: AuditReport): string[] =>
  findings.map(({ code, field = "" }) => `${code} ${field}`.trim());

/** The records with one of them exchanged. */
function exchanged(index: number, data: (old: StoredMessage) => Uint8Array): StoredMessage[] {
  return makeRecords(makeLog()).map((record, i) => (i === index ? { ...record, data: data(record) } : record));
}

describe("B8 audit of a log and what guards said of it", () => {
  it("reproduces all of it, and the signers", async () => {
    expect(await audit()).toMatchObject({
      findings: [],
      counts: { verdict: { reproduced: 1, all: 1 }, quarantine: { reproduced: 1, all: 1 } },
      log: { messages: 2, lastSeq: 2, refused: 1, checkpoints: 1 },
      entries: 2,
      runs: 1,
      guards: ["g1"],
    });
  });

  it.each([
    [{ run }, 1, 1],
    [{ run, task: runTask }, 1, 0],
    [{ run, task: "t" }, 0, 1],
    [{ run: "other" }, 0, 0],
  ])("of %j compares what belongs to it", async (scope, verdicts, quarantined) => {
    const report = await audit(scope);
    expect(report.findings).toEqual([]);
    expect(report.counts).toMatchObject({ verdict: { all: verdicts }, quarantine: { all: quarantined } });
  });

  it("names the field of a verdict that says something else, though a guard signed it", async () => {
    const told = decodeVerdictBody(expectedOf(makeLog())[0]?.body ?? new Uint8Array());
    const lie = encodeVerdictBody({ ...told, action: "halt" });
    const report = await audit({ records: exchanged(0, () => signed("verdict", lie)) });
    expect(report.findings).toMatchObject([
      { code: "verdict-differs", lane, seq: 1, ordinal: 1, recordSeq: 1, field: "action" },
    ]);
    expect(report.counts.verdict).toEqual({ reproduced: 0, all: 1 });
  });

  it("finds what nobody certified signed", async () => {
    const stranger = createSigner(createSeed());
    const body = expectedOf(makeLog())[0]?.body ?? new Uint8Array();
    const self = issueCertificate(stranger, { role: "guard", name: "g1", key: stranger.publicKey });
    const agent = issueCertificate(operator, { role: "agent", name: "a", key: stranger.publicKey });
    for (const data of [
      signed("verdict", body, stranger, self),
      signed("verdict", body, stranger, agent),
      signed("verdict", body, stranger),
    ])
      expect(codes(await audit({ records: exchanged(0, () => data) }))).toEqual(["verdict-differs signature"]);
    expect(codes(await audit({ records: exchanged(0, () => utf8("?")) }))).toEqual([
      "verdict-differs record",
      "verdict-missing",
    ]);
  });

  it("finds a checkpoint that no guard signed, and does not compare with it", async () => {
    const report = await audit({ records: exchanged(2, ({ data }) => Uint8Array.from(data).fill(0x41, -8, -2)) });
    expect(codes(report)[0]).toMatch(/^verdict-differs/);
    expect(report.log.checkpoints).toBe(0);
  });

  it("finds records that are missing, doubled, or of nothing", async () => {
    const records = makeRecords(makeLog());
    const [verdict, quarantine, checkpoint] = records as [StoredMessage, StoredMessage, StoredMessage];
    const gone = [
      { ...quarantine, seq: 1 },
      { ...checkpoint, seq: 2 },
    ];
    expect((await audit({ records: gone })).findings).toMatchObject([
      { code: "verdict-missing", lane, seq: 1, ordinal: 1 },
    ]);
    expect(codes(await audit({ records: records.slice(1) }))).toEqual(["verdict-missing", "verdict-missing"]);
    expect(codes(await audit({ records: [...records, { ...verdict, seq: 4 }] }))).toEqual(["verdict-differs record"]);
    const elsewhere = { ...verdict, seq: 4, subject: verdict.subject.replace(`.${lane}.`, `.${otherLane}.`) };
    expect(codes(await audit({ records: [...records, elsewhere] }))).toEqual(["verdict-differs record"]);
  });

  it("puts what is wrong with the log first", async () => {
    const log = makeLog();
    const records = makeRecords(log);
    const changed = log.map((message) => (message.seq === 2 ? { ...message, data: utf8("no event.") } : message));
    const report = await audit({ log: changed, records });
    expect(report.findings[0]).toMatchObject({ code: "log-altered", lane, seq: 2 });
    expect(codes(report)).toContain("verdict-differs sha256");
    expect((await audit({ log: log.slice(0, 1), records })).findings[0]).toMatchObject({
      code: "log-rolled-back",
      lane,
      seq: 2,
    });
  });

  it("B9 finds a log that was rolled back behind what was judged, though nothing pinned it", async () => {
    const log = makeLog();
    const records = makeRecords(log).slice(0, -1);
    const { findings, counts } = await audit({ log: log.slice(0, 1), records });
    expect(findings).toMatchObject([{ code: "log-rolled-back", lane, seq: 2 }]);
    // Every published record counts, those that nothing brings forth any more included.
    expect(counts).toEqual({ verdict: { reproduced: 1, all: 1 }, quarantine: { reproduced: 0, all: 1 } });
  });

  it.each([
    [{ run, task: runTask }, 1],
    [{ run, task: "t" }, 1],
    [{ run, task: "nope" }, 0],
    [{ run }, 2],
  ])("of %j tells how many entries of the log it is about", async (scope, entries) => {
    expect(await audit(scope)).toMatchObject({ entries });
  });

  it("waits for a guard that runs, and for nobody else", async () => {
    const records = makeRecords(makeLog());
    expect(await audit({ records: records.slice(0, 1), later: records.slice(1) })).toMatchObject({ findings: [] });
    const { findings } = await audit({ records: records.slice(0, 1) });
    expect(findings).toMatchObject([{ code: "verdict-missing", seq: 2 }]);
    expect(findings[0]?.sentence).toContain("no guard has judged that far");
  });
});

describe("B8 replay", () => {
  it("of one run brings forth what the replay of its lane does, each entry at its own time", () => {
    const [opening, garbage] = makeLog() as [StoredMessage, StoredMessage];
    // Another run's entry before it, at a later time: the server's clock was set back.
    const before = { ...garbage, subject: garbage.subject.replace(`.${run}.`, ".x."), timeMs: 9_000 };
    const log = [before, { ...opening, seq: 3 }, { ...garbage, seq: 4 }];
    const fold = new LaneFold(lane, { operator: operator.publicKey });
    const whole = log.flatMap((message) => fold.fold(admit(message), verifySignature));
    const found: Expected[] = [];
    const replay = new Replay({
      operator: operator.publicKey,
      run,
      history: () => Promise.resolve([]),
      onRecord: (record) => found.push(record),
    });
    for (const message of log) void replay.take(message, lane);
    expect(found.map(({ subject }) => subject)).toEqual(
      whole.flatMap((output) => ("subject" in output && !output.subject.endsWith(".2") ? [output.subject] : [])),
    );
    expect(decodeVerdictBody(found[0]?.body ?? new Uint8Array()).at).toBe(1_000);
  });
});
