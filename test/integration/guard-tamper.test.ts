import { randomBytes } from "node:crypto";
import { cp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Guard } from "@candor/guard";
import { checkpointSubject, streams, utf8 } from "@candor/contract";
import {
  certificateHeader,
  encodeCertificate,
  issueCertificate,
  readCheckpoint,
  signCheckpoint,
  type Checkpoint,
} from "@candor/ledger";
import { headers } from "@nats-io/transport-node";
import { laneOfRun, startGuardStage, until, type GuardStage } from "../kit/guard-stage.js";
import { keys, Scenario } from "../kit/scenario.js";

const run = "tamper";
let stage: GuardStage;
let lane: number;

beforeEach(async () => {
  stage = await startGuardStage({ lanes: 2 });
  lane = laneOfRun(stage, run);
});
afterEach(async () => {
  await stage.close();
});

function logFolder(): string {
  return join(stage.server.server.dataDir, "jetstream", "LOG", "streams", streams.log);
}

/** Plays a scenario and has a guard pin it. */
async function pin(scenario: Scenario): Promise<void> {
  await stage.play(scenario);
  const guard = await stage.guard("g1", { lanes: [lane] });
  await until(() => guard.view(lane)?.size === scenario.log.length && guard.view(lane)?.state === "live");
  await guard.stop();
}

/** A guard that must halt at once: its error, and that it published nothing. */
async function haltsAtStart(): Promise<Awaited<Guard["ended"]>> {
  const before = (await stage.records()).length;
  const guard = await stage.guard("g2", { lanes: [lane] });
  const error = await guard.ended;
  expect(guard.view(lane)).toMatchObject({ state: "halted", halted: { code: error.code } });
  await guard.stop();
  expect((await stage.records()).length).toBe(before);
  return error;
}

async function lastCheckpoint(): Promise<Checkpoint> {
  const found = (await stage.records()).filter(({ subject }) => subject === checkpointSubject(lane)).at(-1);
  return readCheckpoint(new TextDecoder().decode(found?.data));
}

/** Flips a bit of a block of the log, by its number from 0, while the server is away. */
async function changeByte(block: number, place: (bytes: Buffer) => number): Promise<void> {
  const { server } = stage.server;
  await server.stop();
  const folder = join(logFolder(), "msgs");
  const blocks = (await readdir(folder)).filter((name) => name.endsWith(".blk"));
  const file = join(folder, blocks.sort((a, b) => parseInt(a) - parseInt(b))[block] ?? "");
  const bytes = await readFile(file);
  const at = place(bytes);
  bytes.writeUInt8(bytes.readUInt8(at) ^ 0x10, at);
  await writeFile(file, bytes);
  await server.restart();
}

/** The log, made anew so that the operator may delete from it, as nobody should be able to. */
async function makeDeletable(): Promise<void> {
  const { jsm } = stage.operator;
  const { config } = await jsm.streams.info(streams.log);
  await jsm.streams.delete(streams.log);
  await jsm.streams.add({ ...config, deny_delete: false });
}

describe("B9 a log that is not the one that was read", () => {
  it("S26 restored from an older copy: the lane halts before it publishes anything, though new events took the old numbers", async () => {
    const scenario = new Scenario({ run }).open().delegate("t1").accept();
    await pin(scenario);
    const { server } = stage.server;
    await server.stop();
    await cp(logFolder(), join(stage.server.dir, "copy"), { recursive: true });
    await server.restart();
    scenario.error();
    scenario.error();
    await pin(scenario);
    const pinned = await lastCheckpoint();

    await server.stop();
    await rm(logFolder(), { recursive: true });
    await cp(join(stage.server.dir, "copy"), logFolder(), { recursive: true });
    await server.restart();
    expect(await haltsAtStart()).toMatchObject({ code: "log-rolled-back", details: { lane, seq: pinned.position } });
    scenario.error();
    scenario.error();
    scenario.error();
    await stage.play(scenario);
    expect(await haltsAtStart()).toMatchObject({ code: "log-rolled-back", details: { lane, seq: pinned.position } });
  });

  it("S26 rolled back under a running guard: it halts when it is connected again", async () => {
    const scenario = new Scenario({ run }).open().delegate("t1").accept();
    const { server } = stage.server;
    await stage.play(scenario);
    await server.stop();
    await cp(logFolder(), join(stage.server.dir, "copy"), { recursive: true });
    await server.restart();
    const guard = await stage.guard("g1", { lanes: [lane] });
    scenario.error();
    await stage.play(scenario);
    await until(() => guard.view(lane)?.metrics.events === scenario.log.length);
    await server.stop();
    await rm(logFolder(), { recursive: true });
    await cp(join(stage.server.dir, "copy"), logFolder(), { recursive: true });
    await server.restart();
    expect(await guard.ended).toMatchObject({ code: "log-rolled-back", details: { lane } });
    await guard.stop();
  });

  it("a message was removed before the checkpoint", async () => {
    await makeDeletable();
    const scenario = new Scenario({ run }).open().delegate("t1").accept();
    scenario.error();
    scenario.error();
    await pin(scenario);
    const { position } = await lastCheckpoint();
    await stage.operator.jsm.streams.deleteMessage(streams.log, 4, true);
    expect(await haltsAtStart()).toMatchObject({ code: "log-truncated", details: { lane, seq: position } });
  });

  it("the message that the checkpoint names was removed", async () => {
    await makeDeletable();
    const scenario = new Scenario({ run }).open().delegate("t1").accept();
    scenario.error();
    await pin(scenario);
    const { position } = await lastCheckpoint();
    await stage.operator.jsm.streams.deleteMessage(streams.log, position, true);
    expect(await haltsAtStart()).toMatchObject({ code: "log-truncated", details: { lane, seq: position } });
  });

  it.each([1, 20, 42])("one byte of stored message %i was changed on disk", async (seq) => {
    const scenario = new Scenario({ run }).open().delegate("t1").accept();
    for (let i = 0; i < 40; i += 1) scenario.error();
    await pin(scenario);
    const { position } = await lastCheckpoint();
    const changed = scenario.log[seq - 1]?.data ?? new Uint8Array();
    await changeByte(0, (bytes) => bytes.indexOf(changed) + Math.floor(changed.length / 2));
    // The server finds the checksum wrong, and has none of the block's messages any more.
    const { code, details } = await haltsAtStart();
    expect({ code, details }).toEqual({ code: "log-truncated", details: { lane, seq: position } });
  });

  it.each([
    ["pinned", true],
    ["not pinned yet", false],
  ])(
    "B9 a compressed block that can't be read, %s: the lane halts instead of waiting",
    { timeout: 60_000 },
    async (_, pinned) => {
      const scenario = new Scenario({ run }).open().delegate("t1").accept();
      await stage.play(scenario);
      const subject = scenario.log.at(-1)?.subject ?? "";
      // Over the size of a block, in no event at all: quarantined, and in the lane all the same.
      for (let i = 0; i < 50; i += 1) await stage.publish({ subject, data: randomBytes(200_000) });
      if (pinned) {
        const guard = await stage.guard("g1", { lanes: [lane] });
        await until(() => guard.view(lane)?.size === scenario.log.length + 50);
        await guard.stop();
      }
      await changeByte(0, ({ length }) => Math.floor(length / 2));
      const { code, details } = await haltsAtStart();
      expect({ code, details }).toEqual({ code: "log-truncated", details: { lane, seq: 1 } });
    },
  );

  it("the checkpoint pins another root than the log has", async () => {
    const scenario = new Scenario({ run }).open().delegate("t1").accept();
    await pin(scenario);
    const pinned = await lastCheckpoint();
    await publishCheckpoint({ ...pinned, root: pinned.leaf }, stage.guardIdentity("g1"));
    expect(await haltsAtStart()).toMatchObject({ code: "log-altered", details: { lane, seq: pinned.position } });
  });

  it("the checkpoint is signed by somebody whom the operator did not certify", async () => {
    const scenario = new Scenario({ run }).open().delegate("t1").accept();
    await pin(scenario);
    const { stranger } = keys;
    const certificate = issueCertificate(stranger, { role: "guard", name: "g1", key: stranger.publicKey });
    await publishCheckpoint(await lastCheckpoint(), { name: "g1", signer: stranger, certificate });
    expect(await haltsAtStart()).toMatchObject({ code: "untrusted-key" });
  });
});

async function publishCheckpoint(
  checkpoint: Checkpoint,
  { name, signer, certificate }: Pick<ReturnType<GuardStage["guardIdentity"]>, "name" | "signer" | "certificate">,
): Promise<void> {
  const { nc } = await stage.server.connect("guard", "g1");
  const fields = headers();
  fields.set(certificateHeader, encodeCertificate(certificate));
  const note = signCheckpoint(checkpoint, { name, signer });
  await nc.request(checkpointSubject(lane), utf8(note), { timeout: 5_000, headers: fields });
}

describe("S24 the tail of a log was cut", () => {
  const policy = { settleMs: 200 };
  const cutErrors = async (scenario: Scenario, count: number): Promise<void> => {
    const errors = scenario.log.flatMap(({ subject }, index) => (subject.endsWith(".error") ? [index + 1] : []));
    for (const seq of errors.slice(-count)) await stage.operator.jsm.streams.deleteMessage(streams.log, seq, true);
  };

  it("is found against the receipt where no guard had read it yet", async () => {
    await makeDeletable();
    const scenario = new Scenario({ run, policy }).open().delegate("t1").accept();
    for (let i = 0; i < 5; i += 1) scenario.error();
    scenario.report();
    await stage.play(scenario);
    await cutErrors(scenario, 2);
    await stage.guard("g1", { lanes: [lane] });
    const verdict = await until(async () =>
      (await stage.verdicts(run)).find(({ judge, final }) => judge === "disclosure" && final),
    );
    expect(verdict).toMatchObject({ verdict: "CONCEALMENT_DETECTED", action: "halt" });
    expect(verdict.findings.map(({ code }) => code)).toContain("log-gap");
  });

  it("is found against the checkpoint where a guard had, before any verdict is published from what is left", async () => {
    await makeDeletable();
    const scenario = new Scenario({ run, policy }).open().delegate("t1").accept();
    for (let i = 0; i < 5; i += 1) scenario.error();
    scenario.report();
    await pin(scenario);
    const { position } = await lastCheckpoint();
    await cutErrors(scenario, 2);
    const { code, details } = await haltsAtStart();
    expect({ code, details }).toEqual({ code: "log-truncated", details: { lane, seq: position } });
  });
});

describe("two guards on one lane watch each other's log", () => {
  it("a guard halts whose log differs from the one that the other pinned", async () => {
    const settings = { checkpointEvents: 1_000_000, checkpointQuietMs: 150, standbyMs: 20 };
    const scenario = new Scenario({ run }).open().delegate("t1").accept();
    await stage.play(scenario);
    const guard = await stage.guard("g1", { lanes: [lane], settings });
    await until(async () => (await stage.records()).some(({ subject }) => subject === checkpointSubject(lane)));
    const pinned = await lastCheckpoint();
    // As a guard would that read something else from the next message on.
    await publishCheckpoint({ ...pinned, size: pinned.size + 1, root: pinned.leaf }, stage.guardIdentity("g2"));
    scenario.error();
    await stage.play(scenario);
    expect(await guard.ended).toMatchObject({ code: "log-altered", details: { lane } });
    await guard.stop();
  });
});
