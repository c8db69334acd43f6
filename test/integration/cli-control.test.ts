import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startEmbedded, type Embedded } from "@candor/cli";
import { exitCodes } from "@candor/contract";
import { connectOrchestrator, type Fleet, type Run } from "@candor/orchestrator";
import { connectSubagent, type Subagent } from "@candor/subagent";
import { candor, candorHere, startCandor, type RunningCandor } from "../kit/candor.js";
import { playHonestRun, stageOf } from "../kit/honest-run.js";

let dir = "";
let embedded: Embedded;
let fleet: Fleet;
let agent: Subagent;
let run: Run;
const running: RunningCandor[] = [];

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "candor-control-"));
  embedded = await startEmbedded({ dataDir: dir, lanes: 4 });
  const stage = stageOf(embedded);
  await playHonestRun(stage, "told");
  fleet = await connectOrchestrator({ servers: stage.servers, credentials: stage.fleet });
  agent = await connectSubagent({ servers: stage.servers, credentials: stage.agent });
  run = await fleet.openRun({ run: "live" });
}, 120_000);
afterAll(async () => {
  for (const { child, ended } of running) {
    child.kill("SIGKILL");
    await ended;
  }
  await agent.close();
  await fleet.close();
  await embedded.stop();
  await rm(dir, { recursive: true, force: true });
});

const data = (): readonly string[] => ["--data", dir];
const auditor = (): readonly string[] => [
  ...data(),
  "--credentials",
  embedded.credentials({ role: "auditor", name: "auditor" }),
];

/** A task that runs until it is asked to stop. */
async function startTask(task: string): Promise<{ readonly over: Promise<unknown> }> {
  const { token } = await run.delegate({ task, agent: stageOf(embedded).agentCertificate });
  const accepted = await agent.accept(token);
  const over = accepted.run(
    (ctx) =>
      new Promise((resolve) => {
        ctx.signal.addEventListener("abort", () => {
          resolve({ claim: "fail", summary: "stopped" });
        });
      }),
  );
  return { over };
}

async function tail(...args: readonly string[]): Promise<RunningCandor> {
  const started = startCandor(["tail", ...args, "--json"]);
  running.push(started);
  while (!started.stderr().includes("Looking on")) await new Promise((resolve) => setTimeout(resolve, 20));
  return started;
}

describe("Q3 candor run show and task show", () => {
  it("show a run with the verdict and action of each task", async () => {
    const { exit, stdout } = await candor(["run", "show", "told", ...data()]);
    expect(exit).toBe(0);
    expect(stdout).toContain("a run of the tests");
    expect(stdout).toMatch(/^pays +1 +agent +delegated .* proceed +yes +FULL_DISCLOSURE_VERIFIED$/m);
    expect(stdout).toMatch(/^fails +1 +agent +delegated .* redispatch +yes /m);
    expect(stdout).toMatch(/^stops +1 +agent +recalled /m);
    const json = JSON.parse((await candorHere(["run", "show", "told", ...data(), "--json"])).stdout) as object;
    expect(json).toMatchObject({
      run: "told",
      fleet: "fleet",
      tasks: [{ task: "pays" }, { task: "fails" }, { task: "stops" }],
    });
  });

  it("lists the runs, for who does not know their ids", async () => {
    const { exit, stdout } = await candorHere(["run", "list", ...auditor()]);
    expect(exit).toBe(0);
    expect(stdout).toMatch(/^told +fleet +\d+ +\S+ +open$/m);
    expect(stdout).toMatch(/^live +fleet +\d+ +\S+ +open$/m);
    expect(stdout).toContain("candor run show live");
    const json = JSON.parse((await candorHere(["run", "list", ...data(), "--json"])).stdout) as object;
    expect(json).toMatchObject([{ run: "told", fleet: "fleet" }, { run: "live" }]);
  });

  it("Q5 show prose to the operator and to nobody else", async () => {
    const open = await candorHere(["task", "show", "told", "pays", ...data()]);
    expect(open.stdout).toContain("“paid the bill of bill@example.org”");
    expect(open.stdout).toMatch(/ error +unavailable, recoverable, in lookup at db, “TypeError: busy/);
    const sealed = await candorHere(["task", "show", "told", "pays", ...auditor()]);
    expect(sealed.exit).toBe(0);
    expect(sealed.stdout).toContain("(sealed)");
    expect(sealed.stdout).not.toContain("bill@example.org");
  });

  it("know no other run or task", async () => {
    for (const args of [
      ["run", "show", "nothing"],
      ["task", "show", "told", "nothing"],
    ]) {
      const { exit, stderr } = await candorHere([...args, ...data()]);
      expect(exit).toBe(exitCodes.usage);
      expect(stderr).toMatch(/^candor: not-found: .*\n$/);
    }
  });
});

describe("Q3 candor tail", () => {
  it("shows what is stored and what comes, of one run and of some kinds", async () => {
    const old = await tail("--run", "told", "--kind", "error", "verdict", "--from-start", ...auditor());
    await old.printed(/"kind":"verdict".*fails/s);
    const lines = old
      .stdout()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { kind: string; run: string });
    expect(new Set(lines.map(({ kind }) => kind))).toEqual(new Set(["error", "verdict"]));
    expect(new Set(lines.map((line) => line.run))).toEqual(new Set(["told"]));

    const live = await tail(...data());
    const { over } = await startTask("seen");
    await live.printed(/"task":"seen".*"kind":"accept"/);
    await run.recall("seen", { graceMs: 1_000, reason: "tests" });
    await over;
    await live.printed(/"task":"seen".*"kind":"verdict".*RECALL_NO_SIDE_EFFECTS_SAFE/);
    expect(live.stdout()).not.toContain('"run":"told"');
    live.child.kill("SIGINT");
    expect(await live.ended).toMatchObject({ exit: 0 });
  });
});

describe("R1 R8 candor recall and terminate", () => {
  it("recall stops a subagent, and waits for the guard's last word if asked to", async () => {
    const { over } = await startTask("recalled");
    const { exit, stdout } = await candorHere([
      "recall",
      "live",
      "recalled",
      "--grace",
      "2s",
      "--reason",
      "budget",
      "--wait",
      ...data(),
      "--json",
    ]);
    expect(exit).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      intent: "recall",
      control: 2,
      epoch: 1,
      decision: { kind: "decided", action: "proceed" },
    });
    expect(await over).toMatchObject({ finishReason: "recalled" });
    const again = await candorHere(["recall", "live", "recalled", "--grace", "2s", ...data()]);
    expect(again.exit).toBe(exitCodes.refused);
    expect(again.stderr).toMatch(/^candor: [a-z-]+: .*\n$/);
  });

  it("terminate asks first, and ends the task at once", async () => {
    const { over } = await startTask("ended");
    const asked = await candor(["terminate", "live", "ended", ...data()]);
    expect(asked.exit).toBe(exitCodes.usage);
    expect(asked.stderr).toContain("--yes");
    const { exit, stdout } = await candorHere(["terminate", "live", "ended", "--yes", "--wait", ...data()]);
    expect(exit).toBe(0);
    expect(stdout).toContain("TERMINATED");
    await over;
  });

  it("know no other run or task", async () => {
    for (const [id, task] of [
      ["nothing", "t"],
      ["live", "nothing"],
    ] as const) {
      const { exit, stderr } = await candorHere(["recall", id, task, "--grace", "1s", ...data()]);
      expect(exit).toBe(exitCodes.usage);
      expect(stderr).toMatch(/^candor: not-found: .*\n$/);
    }
  });
});

describe("Q3 candor streams", () => {
  it("shows streams as they should be, and differences before it changes anything", async () => {
    const shown = await candorHere(["streams", "show", ...data()]);
    expect(shown).toMatchObject({ exit: 0 });
    expect(shown.stdout).toContain("All are as they should be.");
    expect(await candorHere(["streams", "apply", "--check", ...data()])).toMatchObject({ exit: 0 });
    const differs = await candorHere(["streams", "apply", "--check", "--replicas", "3", ...data()]);
    expect(differs.exit).toBe(exitCodes.finding);
    expect(differs.stdout).toMatch(/CANDOR_LOG +num_replicas +1 +3 +update/);
    const unasked = await candor(["streams", "apply", "--replicas", "3", ...data()]);
    expect(unasked.exit).toBe(exitCodes.usage);
    expect(unasked.stderr).toContain("--yes");
    const otherLanes = await candorHere(["streams", "apply", "--check", "--lanes", "8", ...data()]);
    expect(otherLanes).toMatchObject({ exit: exitCodes.finding, stderr: "" });
    expect(otherLanes.stdout).toContain("can't be changed");
    const fixed = await candorHere(["streams", "apply", "--lanes", "8", "--yes", ...data()]);
    expect(fixed.exit).toBe(exitCodes.setup);
    expect(fixed.stderr).toMatch(/^candor: streams-differ: .*\n$/);
    expect((await candorHere(["streams", "apply", "--check", ...data()])).stdout).toContain("as they should be");
  });
});
