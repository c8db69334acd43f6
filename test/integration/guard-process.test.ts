import { spawn } from "node:child_process";
import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { Publisher, type Bus } from "@candor/bus";
import { decodeSigned, decodeVerdictBody, laneOf, stateSubject, streams, type VerdictBody } from "@candor/contract";
import { createSeed, createSigner } from "@candor/ledger";
import { createCredentials } from "@candor/ledger/files";
import { openRun, taskMessages, type Cast } from "../bench/workload.js";
import { until } from "../kit/guard-stage.js";
import { startWorld, type GuardProcess, type World } from "../kit/world.js";

const guardMain = fileURLToPath(new URL("../../services/guard/dist/main.js", import.meta.url));
const lanes = 2;
let world: World;
let operator: Bus;
const running: GuardProcess[] = [];

beforeAll(async () => {
  world = await startWorld({ lanes });
  operator = await world.connect("operator", "operator");
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((guard) => guard.kill()));
});
afterAll(async () => {
  await world.close();
});

async function startGuard(name = "g1"): Promise<GuardProcess> {
  const guard = await world.startGuard(name);
  running.push(guard);
  return guard;
}

function castOf(run: string): Cast {
  const fleet = world.credentials("orchestrator", "fleet");
  const agent = world.credentials("agent", "payer");
  return {
    run,
    operatorKey: world.operatorKey,
    fleet: { certificate: world.certificate("orchestrator", "fleet"), signer: fleet.signer },
    agent: { name: agent.name, signer: agent.signer },
    taskKey: () => createSigner(createSeed()),
  };
}

/** Publishes a run of honest tasks, one message after the other. */
async function publishRun(run: string, tasks: number, eventsPerTask: number): Promise<void> {
  const cast = castOf(run);
  const fleet = new Publisher(await world.connect("orchestrator", "fleet"));
  const agent = new Publisher(await world.connect("agent", "payer"));
  const send = (by: Publisher, { subject, data }: { subject: string; data: Uint8Array }): Promise<unknown> =>
    by.publish({ subject, bytes: data });
  await send(fleet, openRun(cast));
  for (let i = 0; i < tasks; i += 1) {
    const { intent, events } = taskMessages(cast, `t${i}`, eventsPerTask);
    await send(fleet, intent);
    for (const event of events) await send(agent, event);
  }
}

/** The verdicts of a run in stream order. */
async function verdictsOf(run: string): Promise<VerdictBody[]> {
  const { state } = await operator.jsm.streams.info(streams.verdicts);
  const found: VerdictBody[] = [];
  const consumer = await operator.js.consumers.get(streams.verdicts, {
    filter_subjects: [`candor.vd.${laneOf(run, lanes)}.${run}.>`],
  });
  if (state.messages === 0 || (await consumer.info()).num_pending === 0) return found;
  for await (const message of await consumer.fetch({ max_messages: 10_000, expires: 1_000 })) {
    found.push(decodeVerdictBody(decodeSigned(message.data).body));
    if (message.info.pending === 0) break;
  }
  return found;
}

/** How whoever answers for a run's lane says that it stands, asked ten times: two guards answer in turn. */
async function statesOf(run: string): Promise<{ state: string; diverged: number }[]> {
  const states = new Map<string, { state: string; diverged: number }>();
  for (let i = 0; i < 10; i += 1) {
    const answer = await operator.nc.request(stateSubject(laneOf(run, lanes)), "", { timeout: 5_000 });
    const { state, metrics } = answer.json<{ state: string; metrics: { diverged: number } }>();
    states.set(state, { state, diverged: metrics.diverged });
  }
  return [...states.values()];
}

/**
 * Verdict subjects of so many tasks of the bench's workload: of each its delegation and its report, of every tenth (`t3`,
 * `t13`, …) what may be done about its upward report; of the run its opening, and an upstream that fails too often.
 */
function subjectsOf(tasks: number): number {
  return 2 * tasks + Math.ceil((tasks - 3) / 10) + 2;
}

/** Waits until each task has its verdicts, and checks that no subject has a number twice, left out or in disorder. */
async function expectEachOnce(run: string, tasks: number): Promise<void> {
  const verdicts = await until(async () => {
    const found = await verdictsOf(run);
    const full = found.filter(({ verdict, final }) => verdict === "FULL_DISCLOSURE_VERIFIED" && final);
    const subjects = new Set(found.map(({ task, judge }) => `${task} ${judge}`));
    return full.length >= tasks && subjects.size >= subjectsOf(tasks) && found;
  });
  const next = new Map<string, number>();
  for (const { task, judge, ordinal } of verdicts) {
    expect(ordinal).toBe((next.get(`${task} ${judge}`) ?? 0) + 1);
    next.set(`${task} ${judge}`, ordinal);
  }
  expect(next.size).toBe(subjectsOf(tasks));
}

describe("B5 the guard as a process", () => {
  it("killed again and again while events come in, it loses no verdict and doubles none", async () => {
    let guard = await startGuard();
    const published = publishRun("killed", 25, 12);
    const progress = { isOver: false };
    void published.then(() => {
      progress.isOver = true;
    });
    for (let kills = 0; !progress.isOver || kills < 3; kills += 1) {
      await guard.kill("SIGKILL");
      guard = await startGuard();
    }
    await published;
    await expectEachOnce("killed", 25);
  });

  it("two of them on the same lanes store each verdict once, and the other takes over when one dies", async () => {
    const first = await startGuard("g1");
    await startGuard("g2");
    await publishRun("pair-1", 10, 10);
    await first.kill("SIGKILL");
    await publishRun("pair-2", 10, 10);
    await expectEachOnce("pair-1", 10);
    await expectEachOnce("pair-2", 10);
  });

  it("started twice as the same guard, nothing is doubled, missing or halted", async () => {
    await startGuard("g1");
    const twin = await startGuard("g1");
    await publishRun("twice-1", 10, 10);
    await expectEachOnce("twice-1", 10);
    expect(await statesOf("twice-1")).toEqual([{ state: "live", diverged: 0 }]);
    await twin.kill("SIGKILL");
    await publishRun("twice-2", 10, 10);
    await expectEachOnce("twice-2", 10);
    expect(await statesOf("twice-2")).toEqual([{ state: "live", diverged: 0 }]);
    expect(running.map((guard) => guard.log()).join("")).not.toMatch(/halted:|guard-divergence/);
  });

  it("ends in order on SIGTERM, with a checkpoint of what it has read", async () => {
    const guard = await startGuard();
    await publishRun("orderly", 3, 8);
    await expectEachOnce("orderly", 3);
    expect(await guard.kill("SIGTERM")).toBe(0);
    const lane = laneOf("orderly", lanes);
    const last = await operator.jsm.streams.getMessage(streams.verdicts, { last_by_subj: `candor.checkpoint.${lane}` });
    const log = await operator.jsm.streams.getMessage(streams.log, { last_by_subj: `candor.log.${lane}.>` });
    expect(last?.string()).toContain(`position ${log?.seq ?? 0}\n`);
  });

  it("ends when the process that started it is gone", async () => {
    const guard = await startGuard();
    guard.child.stdin?.end();
    expect(await guard.ended).toBe(0);
    expect(guard.log()).toContain("the parent process is gone");
  });
});

interface Ended {
  readonly code: number | null;
  readonly lines: readonly string[];
}

function runGuard(args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [guardMain, ...args], { stdio: ["ignore", "ignore", "pipe"] });
    let text = "";
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
    });
    child.on("exit", (code) => {
      resolve({ code, lines: text.trim().split("\n") });
    });
  });
}

describe("Q2 a user's mistake is one clear line with a code", () => {
  const cases: readonly (readonly [
    what: string,
    code: string,
    exit: number,
    args: () => string[] | Promise<string[]>,
  ])[] = [
    ["no credentials", "bad-argument", 2, () => []],
    ["an unknown option", "bad-argument", 2, () => ["--loud"]],
    ["a folder that is not there", "not-found", 2, () => ["--credentials", join(world.dir, "none")]],
    [
      "somebody else's credentials",
      "bad-argument",
      2,
      () => ["--credentials", world.folder("agent", "payer"), "--servers", world.urls.join(",")],
    ],
    ["no server named", "bad-argument", 2, () => ["--credentials", world.folder("guard", "g1")]],
    [
      "no server there",
      "server-unreachable",
      4,
      () => ["--credentials", world.folder("guard", "g1"), "--servers", "nats://127.0.0.1:1"],
    ],
    [
      "lanes that are not there",
      "bad-argument",
      2,
      () => [...["--credentials", world.folder("guard", "g1"), "--servers", world.urls.join(",")], ...["--lanes", "7"]],
    ],
    [
      "another operator's guard",
      "permission-denied",
      3,
      () => {
        const folder = join(world.dir, "stranger");
        createCredentials(folder, { role: "guard", name: "g1", operator: createSigner(createSeed()) });
        return ["--credentials", folder, "--servers", world.urls.join(",")];
      },
    ],
    [
      "a key that others can read",
      "key-exposed",
      3,
      async () => {
        const folder = join(world.dir, "exposed");
        createCredentials(folder, { role: "guard", name: "g9", operator: createSigner(createSeed()) });
        await chmod(join(folder, "signing.seed"), 0o644);
        return ["--credentials", folder, "--servers", world.urls.join(",")];
      },
    ],
  ];

  // Side by side: one waits for ten seconds for a server to come.
  it.concurrent.each(cases)("%s", async (_, code, exit, args) => {
    const ended = await runGuard(await args());
    expect(ended.lines).toHaveLength(1);
    expect(ended.lines[0]).toMatch(new RegExp(`^candor-guard: ${code}: .+`));
    expect(ended.code).toBe(exit);
  });
});
