import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { auditRun, connectAs, openBusSource, startEmbedded, type AuditReport, type Embedded } from "@candor/cli";
import {
  encodeVerdictBody,
  exitCodes,
  decodeSigned,
  decodeVerdictBody,
  encodeSigned,
  laneOf,
  runTask,
  streams,
} from "@candor/contract";
import { candor, candorHere, startCandor } from "../kit/candor.js";
import { startGuardStage, until } from "../kit/guard-stage.js";
import { playHonestRun, stageOf } from "../kit/honest-run.js";
import { keys, Scenario } from "../kit/scenario.js";
import { startWorld, type World } from "../kit/world.js";

interface Audited {
  readonly exit: number | string;
  readonly report: AuditReport;
}

async function audit(...args: readonly string[]): Promise<Audited> {
  const { exit, stdout, stderr } = await candorHere(["audit", ...args, "--json"]);
  if (stdout === "") expect.unreachable(stderr);
  return { exit, report: JSON.parse(stdout) as AuditReport };
}

/** How many messages there are under a subject, as the operator counts them. */
async function countOf(embedded: Embedded, stream: string, subject: string): Promise<number> {
  const bus = await connectAs(embedded.operator, embedded.url);
  const { state } = await bus.jsm.streams.info(stream, { subjects_filter: subject });
  await bus.close();
  return Object.values(state.subjects ?? {}).reduce((sum, count) => sum + count, 0);
}

const lane = laneOf("first", 16);
let dir = "";
/** Data of two runs on one lane: as it was after the first, and as it is at the end. Each test spoils a copy. */
let early = "";
let whole = "";
let published = 0;
let publishedLater = 0;
let lastSeq = 0;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "candor-audit-"));
  [early, whole] = [join(dir, "early"), join(dir, "whole")];
  const embedded = await startEmbedded({ dataDir: whole });
  await playHonestRun(stageOf(embedded), "first");
  await embedded.stop();
  await cp(whole, early, { recursive: true });
  const again = await startEmbedded({ dataDir: whole });
  await playHonestRun(stageOf(again), sameLane);
  published = await countOf(again, streams.verdicts, `candor.vd.${lane}.first.>`);
  publishedLater = await countOf(again, streams.verdicts, `candor.vd.${lane}.${sameLane}.>`);
  lastSeq = await countOf(again, streams.log, ">");
  await again.stop();
}, 120_000);
afterAll(() => rm(dir, { recursive: true, force: true }));

/** Another run of the same lane, so that one lane holds it all. */
const sameLane = Array.from({ length: 200 }, (_, i) => `second${i}`).find((run) => laneOf(run, 16) === lane) ?? "";

let data = "";
beforeEach(async () => {
  data = join(dir, "copy");
  await cp(whole, data, { recursive: true });
});
afterEach(() => rm(data, { recursive: true, force: true }));

function storeOf(stream: string, of = data): string {
  return join(of, "jetstream", "LOG", "streams", stream);
}

/** Changes one byte of a stream's only block, at so many parts of its length. */
async function flip(stream: string, part: number): Promise<void> {
  const folder = join(storeOf(stream), "msgs");
  const [block = ""] = (await readdir(folder)).filter((name) => name.endsWith(".blk"));
  const bytes = await readFile(join(folder, block));
  const at = Math.floor(bytes.length * part);
  bytes[at] = (bytes[at] ?? 0) ^ 0x04;
  await writeFile(join(folder, block), bytes);
}

describe("B8 candor audit on data that nobody touched", () => {
  it("reproduces every verdict, as many as an independent count finds", async () => {
    expect(published).toBeGreaterThan(5);
    const { exit, report } = await audit("--run", "first", "--data", data);
    expect(exit).toBe(0);
    expect(report).toMatchObject({
      findings: [],
      counts: { verdict: { reproduced: published, all: published } },
      log: { messages: lastSeq, lastSeq },
      guards: ["guard-1"],
    });
    const text = await candor(["audit", "--run", "first", "--data", data]);
    expect(text).toMatchObject({ exit: 0, stderr: "" });
    expect(text.stdout).toContain(`reproduced ${published} of ${published} verdicts`);

    const all = await audit("--all", "--data", data);
    expect(all.exit).toBe(0);
    expect(all.report.runs).toBe(2);
    expect(all.report.counts.verdict.reproduced).toBeGreaterThan(published);
  });

  it("knows no run of another id, and changes nothing that a guard would mind", async () => {
    const nothing = await candorHere(["audit", "--run", "nothing", "--data", data]);
    expect(nothing).toMatchObject({ exit: exitCodes.usage, stdout: "" });
    const noTask = await candorHere(["audit", "--run", "first", "--task", "nothing", "--data", data]);
    expect(noTask).toMatchObject({ exit: exitCodes.usage, stdout: "" });
    expect(noTask.stderr).toMatch(/^candor: not-found: .*task nothing/);
    const embedded = await startEmbedded({ dataDir: data });
    expect(embedded.haltedLanes).toEqual([]);
    // While something runs on the folder, that is what it asks.
    expect(await audit("--all", "--data", data)).toMatchObject({ exit: 0, report: { findings: [] } });
    const auditor = embedded.credentials({ role: "auditor", name: "auditor" });
    const elsewhere = await audit("--run", "first", "--server", embedded.url, "--credentials", auditor);
    expect(elsewhere).toMatchObject({ exit: 0, report: { findings: [], counts: { verdict: { all: published } } } });
    await embedded.stop();
  });

  it("says of a log with nothing in it that there is nothing to audit", async () => {
    const empty = join(dir, "empty");
    const embedded = await startEmbedded({ dataDir: empty });
    await embedded.stop();
    const { exit, stdout } = await candorHere(["audit", "--all", "--data", empty]);
    expect({ exit, stdout }).toEqual({ exit: 0, stdout: "There is nothing to audit: the log is empty.\n" });
  });

  it("Q5 is the same after the run's data key was erased", async () => {
    const embedded = await startEmbedded({ dataDir: data });
    expect(await candorHere(["erase", "first", "--data", data])).toMatchObject({ exit: exitCodes.usage });
    expect(await candorHere(["erase", "first", "--yes", "--data", data])).toMatchObject({ exit: 0 });
    const shown = await candorHere(["task", "show", "first", "pays", "--data", data]);
    expect(shown.stdout).toContain("(erased)");
    expect(shown.stdout).not.toContain("bill@example.org");
    expect((await candorHere(["erase", "first", "--yes", "--data", data])).stderr).toContain("candor: not-found");
    await embedded.stop();
    expect(await audit("--run", "first", "--data", data)).toMatchObject({
      exit: 0,
      report: { findings: [], counts: { verdict: { reproduced: published } } },
    });
  });
});

describe("B9 candor audit on data that somebody changed", () => {
  it.each([0.1, 0.5, 0.97])("one byte of the log, at %d of the block: names lane and sequence", async (part) => {
    await flip(streams.log, part);
    const { exit, report } = await audit("--run", "first", "--data", data);
    expect(exit).toBe(exitCodes.finding);
    const [first] = report.findings;
    expect(first?.code).toMatch(/^log-(truncated|altered|rolled-back)$/);
    expect(first?.lane).toBe(lane);
    expect(first?.seq).toBeGreaterThan(0);
    // As a process once, for its exit code.
    const text = await (part === 0.5 ? candor : candorHere)(["audit", "--run", "first", "--data", data]);
    expect(text.exit).toBe(exitCodes.finding);
    expect(text.stdout).toMatch(new RegExp(`${String(first?.code)} +${lane} +${String(first?.seq)} `));
    const embedded = await startEmbedded({ dataDir: data });
    expect(embedded.haltedLanes).toMatchObject([{ lane, state: "halted" }]);
    await embedded.stop();
  });

  it("the log alone restored from an older copy: names lane and sequence, and a guard refuses to go on", async () => {
    await rm(storeOf(streams.log), { recursive: true });
    await cp(storeOf(streams.log, early), storeOf(streams.log), { recursive: true });
    for (const run of ["first", sameLane]) {
      const { exit, report } = await audit("--run", run, "--data", data);
      expect({ exit, first: report.findings[0] }).toMatchObject({
        exit: exitCodes.finding,
        first: { code: "log-rolled-back", lane, seq: lastSeq },
      });
      // What was published counts, though nothing brings it forth any more.
      const all = run === "first" ? published : publishedLater;
      expect(report.counts.verdict).toEqual({ reproduced: run === "first" ? published : 0, all });
    }
    const embedded = await startEmbedded({ dataDir: data });
    expect(embedded.haltedLanes).toMatchObject([{ lane, halted: { code: "log-rolled-back" } }]);
    await embedded.stop();
    const up = startCandor(["up", "--data", data, "--port", "0", "--json"]);
    await up.printed("\n");
    up.child.kill("SIGINT");
    const ended = await up.ended;
    expect(ended.exit).toBe(exitCodes.finding);
    expect(ended.stderr).toContain("candor: log-rolled-back: ");
  });

  it("the log removed altogether", async () => {
    await rm(storeOf(streams.log), { recursive: true });
    const { exit, report } = await audit("--all", "--data", data);
    expect({ exit, first: report.findings[0] }).toMatchObject({
      exit: exitCodes.finding,
      first: { code: "log-rolled-back", lane, seq: lastSeq },
    });
  });

  it.each([0.02, 0.5])("one byte of the verdicts, at %d of the block: names what is missing", async (part) => {
    await flip(streams.verdicts, part);
    const { exit, report } = await audit("--all", "--data", data);
    expect(exit).toBe(exitCodes.finding);
    expect(report.findings).toContainEqual(expect.objectContaining({ code: "verdict-missing", lane }));
    expect(report.findings.every(({ code }) => code === "verdict-missing")).toBe(true);
  });

  it("the verdicts restored from an older copy", async () => {
    await rm(storeOf(streams.verdicts), { recursive: true });
    await cp(storeOf(streams.verdicts, early), storeOf(streams.verdicts), { recursive: true });
    expect(await audit("--run", "first", "--data", data)).toMatchObject({ exit: 0 });
    const { exit, report } = await audit("--run", sameLane, "--data", data);
    expect(exit).toBe(exitCodes.finding);
    expect(report.counts.verdict).toMatchObject({ reproduced: 0 });
    // A guard says the same again, and then nothing is missing.
    const embedded = await startEmbedded({ dataDir: data });
    expect(await audit("--run", sameLane, "--data", data)).toMatchObject({ exit: 0, report: { findings: [] } });
    await embedded.stop();
  });
});

describe("B8 B9 candor audit on a server", () => {
  let world: World;
  /** What the server has stored, as each test finds it. */
  const stored = (): string => join(world.dir, "server", "jetstream");
  const kept = (): string => join(world.dir, "kept");
  beforeAll(async () => {
    world = await startWorld({ identities: { agent: ["agent"] } });
    // Made anew so that the operator may delete from it, as nobody should be able to.
    const { jsm } = await world.connect("operator", "operator");
    for (const stream of [streams.log, streams.verdicts]) {
      const { config } = await jsm.streams.info(stream);
      await jsm.streams.delete(stream);
      await jsm.streams.add({ ...config, deny_delete: false });
    }
    const guard = await world.startGuard();
    await playHonestRun(
      {
        servers: world.urls,
        fleet: world.credentials("orchestrator", "fleet"),
        agent: world.credentials("agent", "agent"),
        agentCertificate: world.certificate("agent", "agent"),
        spoolDir: join(world.dir, "spool"),
      },
      "r",
    );
    await guard.kill("SIGTERM");
    await world.nodes[0]?.stop();
    await cp(stored(), kept(), { recursive: true });
  });
  beforeEach(async () => {
    await world.nodes[0]?.stop();
    await rm(stored(), { recursive: true });
    await cp(kept(), stored(), { recursive: true });
    await world.nodes[0]?.restart();
  });
  afterAll(() => world.close());

  const at = (): readonly string[] => [
    "--server",
    world.urls.join(","),
    "--credentials",
    world.folder("operator", "operator"),
  ];
  const ofRun = laneOf("r", 16);

  it("a removed message: names lane and sequence", async () => {
    const { jsm } = await world.connect("operator", "operator");
    expect(await audit("--run", "r", ...at())).toMatchObject({ exit: 0 });
    await jsm.streams.deleteMessage(streams.log, 4, true);
    const { exit, report } = await audit("--run", "r", ...at());
    expect({ exit, first: report.findings[0] }).toMatchObject({
      exit: exitCodes.finding,
      first: { code: "log-truncated", lane: ofRun, seq: 4 },
    });
  });

  it("a removed verdict: names it", async () => {
    const { jsm } = await world.connect("operator", "operator");
    const subject = `candor.vd.${ofRun}.r.pays.disclosure`;
    const last = await jsm.streams.getMessage(streams.verdicts, { last_by_subj: subject });
    await jsm.streams.deleteMessage(streams.verdicts, last?.seq ?? 0, true);
    const { exit, report } = await audit("--run", "r", ...at());
    expect(exit).toBe(exitCodes.finding);
    expect(report.findings).toContainEqual(
      expect.objectContaining({ code: "verdict-missing", lane: ofRun, subject, ordinal: 1 }),
    );
  });

  it("B6 a verdict that a guard signs and the log does not bring forth: names subject, place and field", async () => {
    const { nc, jsm } = await world.connect("guard", "g2");
    const subject = `candor.vd.${ofRun}.r.fails.disclosure`;
    const stored = await jsm.streams.getMessage(streams.verdicts, { last_by_subj: subject });
    const record = decodeSigned(stored?.data ?? new Uint8Array());
    const told = decodeVerdictBody(record.body);
    const lie = encodeVerdictBody({ ...told, ordinal: told.ordinal + 1, action: "proceed" });
    await nc.request(subject, encodeSigned({ ...record, body: lie }));
    const { exit, report } = await audit("--run", "r", ...at());
    expect(exit).toBe(exitCodes.finding);
    const about = report.findings.filter((finding) => finding.subject === subject);
    expect(about).toMatchObject([
      { code: "verdict-differs", field: "signature" },
      { code: "verdict-differs", ordinal: told.ordinal + 1, field: "record" },
    ]);
  });

  it("waits for a guard that is about to judge the last entries, and calls missing what nobody judges", async () => {
    const { jsm } = await world.connect("operator", "operator");
    const { state } = await jsm.streams.info(streams.verdicts);
    // As after a kill -9 of everything: neither the last records nor the checkpoint behind them were stored.
    for (let seq = 1; seq <= state.last_seq; seq += 1) await jsm.streams.deleteMessage(streams.verdicts, seq, true);
    const { exit, report } = await audit("--run", "r", ...at());
    expect(exit).toBe(exitCodes.finding);
    expect(report.findings.some(({ sentence }) => sentence.includes("no guard has judged that far"))).toBe(true);
    await world.startGuard();
    const again = await until(async () => {
      const { report: found } = await audit("--run", "r", ...at());
      return found.counts.verdict.reproduced === found.counts.verdict.all && found;
    });
    expect(again.counts.verdict.all).toBe(report.counts.verdict.all);
  });
});

describe("B8 auditRun over a connection", () => {
  it("judges late events of closed tasks and runs, and what is no event, as the guard did", async () => {
    const stage = await startGuardStage({ lanes: 1 });
    try {
      const scenario = new Scenario({ run: "late" }).open().delegate("t1").accept();
      scenario.error();
      scenario.report();
      scenario.close("t1");
      scenario.dispatch("t1");
      scenario.delegate("t2").accept("t2");
      scenario.intent(runTask, "run-close", { state: "completed" });
      scenario.dispatch("t2");
      scenario.dispatch("t1", "refund");
      await stage.play(scenario);
      await stage.publish({ subject: scenario.log.at(-1)?.subject ?? "", data: Uint8Array.of(9) });
      const guard = await stage.guard();
      await until(() => guard.view(0)?.size === scenario.log.length + 1);
      await guard.stop();
      const source = openBusSource(stage.operator, 1);
      const report = await auditRun({ source, operator: keys.operator.publicKey });
      expect(report.findings).toEqual([]);
      expect(report.counts.verdict).toEqual({
        reproduced: (await stage.verdicts()).length,
        all: scenario.verdicts.length,
      });
      expect(report.counts.quarantine.reproduced).toBe((await stage.quarantined()).length);
      expect(report.counts.quarantine.reproduced).toBeGreaterThan(0);
    } finally {
      await stage.close();
    }
  });
});
