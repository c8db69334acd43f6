import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Row } from "@candor/demo";

const main = fileURLToPath(new URL("../../packages/cli/dist/main.js", import.meta.url));
/** Ten subagents, four services, a server and a guard: a machine that is busy otherwise needs its time. */
const demoMs = 150_000;

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface Printed {
  readonly run: string;
  readonly right: boolean;
  readonly degraded: readonly {
    readonly upstream: string;
    readonly calls: number;
    readonly firstTry: number;
    readonly recovered: number;
    readonly failed: number;
  }[];
  readonly rows: readonly Row[];
}

let folder: string;
let data: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "candor-demo-"));
  data = join(folder, "data");
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

function candor(...args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(process.execPath, [main, ...args], { cwd: folder }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

const verdicts = (rows: readonly Row[]): unknown =>
  rows.map(({ judged, problem, right, task }) => [
    task,
    judged?.verdict ?? problem,
    judged?.action,
    right ? "right" : "wrong",
  ]);

const everythingRight = [
  ["review-migrations", "RESULTS_CONFLICT", "verify", "right"],
  ["review-again", "FULL_DISCLOSURE_VERIFIED", "redispatch", "right"],
  ["fetch-stock", "FULL_DISCLOSURE_VERIFIED", "proceed", "right"],
  ["pay-invoices", "RECALL_ACTIVE", "reconcile", "right"],
  ["hide-retries", "CONCEALMENT_DETECTED", "halt", "right"],
  ["drop-tail", "CONCEALMENT_DETECTED", "halt", "right"],
  ["restock", "REPORT_VERIFIED", "proceed", "right"],
  ["plan-order", "FULL_DISCLOSURE_VERIFIED", "verify", "right"],
];

/** What really happened to all but the review, whose folder is another in each test. */
function expectTheOthersRight([, , fetch, pay, hide, drop, restock, plan]: readonly Row[]): void {
  expect(fetch?.truth?.facts).toMatchObject({ items: 10, lost: 0 });
  expect(fetch?.truth?.facts["repeated"]).toBeGreaterThan(10);
  expect(pay?.truth?.facts).toEqual({ ordered: 3, booked: 2, posts: 2, inFlight: 1, afterRecall: 0 });
  expect(pay?.judged?.story.slice(-2)).toEqual(["RECALL_INFLIGHT_ACTIONS_PENDING", "RECALL_ACTIVE"]);
  expect(hide?.judged?.findings).toEqual(["retry-undisclosed"]);
  expect(hide?.truth?.facts).toMatchObject({ toldRetries: 0, claim: "pass" });
  expect(drop?.judged?.findings).toEqual(expect.arrayContaining(["receipt-mismatch", "tally-mismatch"]));
  expect(drop?.truth?.facts).toMatchObject({ lost: 1, claim: "pass" });
  expect(restock?.truth?.facts).toEqual({ epochs: 3, stuck: 1, booked: 1, posts: 1, early: 0 });
  expect(restock?.judged?.story.slice(0, 2)).toEqual(["REDISPATCH_ALLOWED", "APPROVAL_PENDING"]);
  expect(plan?.truth?.facts).toMatchObject({ lost: 1, claim: "fail" });
  expect(plan?.judged?.chain).toEqual(["clerk failed", "buyer passed", "planner downgraded, a downgrade"]);
}

/** True if something listens where the data folder's server was. */
async function isServed(): Promise<boolean> {
  const { url } = JSON.parse(readFileSync(join(data, "embedded.json"), "utf8")) as { readonly url: string };
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

interface RunningDemo {
  readonly child: ChildProcess;
  readonly ended: Promise<unknown>;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Waits until a text is on its standard error, or it has ended. */
  readonly until: (text: string) => Promise<void>;
}

function startDemo(...args: readonly string[]): RunningDemo {
  const child = spawn(process.execPath, [main, "demo", "--data", data, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => (said[name] += text));
  }
  const ended = once(child, "close");
  const until = async (text: string): Promise<void> => {
    while (!said.stderr.includes(text) && child.exitCode === null) {
      await Promise.race([once(child.stderr, "data"), ended]);
    }
  };
  return { child, ended, stdout: () => said.stdout, stderr: () => said.stderr, until };
}

describe("candor demo", () => {
  const runs: string[] = [];

  it("the first run in a folder is right about all eight", { timeout: demoMs }, async () => {
    const { code, stderr, stdout } = await candor("demo", "--json", "--data", data);
    expect([code, stdout === "" ? stderr : ""]).toEqual([0, ""]);
    const { right, rows, run, degraded } = JSON.parse(stdout) as Printed;
    expect(verdicts(rows)).toEqual(everythingRight);
    // D2: the fetcher's task succeeded, every lookup of it in the end, and its upstream shows all the same. Which of the
    // tasks that used it fall into the last window that was degraded depends on how fast they were.
    const inventory = degraded.find(({ upstream }) => upstream === "inventory");
    expect(inventory?.failed).toBe(0);
    expect(inventory?.recovered).toBeGreaterThan(0);
    expect(inventory?.firstTry).toBeLessThan(inventory?.calls ?? 0);
    expect(right).toBe(true);
    runs.push(run);

    const [review, again] = rows;
    // T4: one passes what the other fails, about the same thing.
    expect([review?.truth?.facts["claim"], again?.truth?.facts["claim"]]).toEqual(["pass", "fail"]);
    expect([review, again].map((row) => row?.judged?.findings)).toEqual([["results-conflict"], ["results-conflict"]]);
    expect(review?.truth?.facts).toMatchObject({ files: 13, dangerous: 21, broken: 1, unread: 0 });
    expect(review?.truth?.facts["flagged"]).toBeLessThanOrEqual(Number(review?.truth?.facts["statements"]));
    expect(review?.truth?.findings).toHaveLength(21);
    expect(review?.truth?.findings?.[0]).toMatchObject({
      file: expect.stringMatching(/sql$/) as string,
      severity: "high",
    });
    expectTheOthersRight(rows);
    expect(await isServed()).toBe(false);
  });

  it("B8 what it leaves behind is reproduced by an audit", { timeout: demoMs }, async () => {
    const { code, stdout } = await candor("audit", "--run", runs[0] ?? "", "--data", data, "--json");
    const { counts } = JSON.parse(stdout) as { counts: { verdict: { reproduced: number; all: number } } };
    expect(code).toBe(0);
    expect(counts.verdict.reproduced).toBeGreaterThan(10);
    expect(counts.verdict.reproduced).toBe(counts.verdict.all);
  });

  it(
    "the second run in a folder reviews any other, and an honest word on what it can't read is right",
    { timeout: demoMs },
    async () => {
      const migrations = join(folder, "migrations");
      mkdirSync(join(migrations, "later"), { recursive: true });
      writeFileSync(join(migrations, "1.sql"), "DROP TABLE a;\nCREATE TABLE b (id int);");
      writeFileSync(join(migrations, "2.sql"), "SELEKT 1;");
      writeFileSync(join(migrations, "later", "3.sql"), Buffer.alloc(3 * 1024 * 1024, "-"));
      const { code, stdout } = await candor("demo", "--migrations", migrations, "--json", "--data", data);
      const { right, rows, run } = JSON.parse(stdout) as Printed;
      expect(runs).not.toContain(run);
      const [review, again, ...others] = everythingRight;
      // Too large a file is work that was not done: somebody has to look at it.
      // Both are unsure of it: they do not contradict each other.
      expect(verdicts(rows)).toEqual([
        [review?.[0], "FULL_DISCLOSURE_VERIFIED", "verify", "right"],
        [again?.[0], "FULL_DISCLOSURE_VERIFIED", "verify", "right"],
        ...others,
      ]);
      expect(rows[0]?.truth?.facts).toMatchObject({ files: 3, dangerous: 1, broken: 1, unread: 1, claim: "unsure" });
      expectTheOthersRight(rows);
      expect([code, right]).toEqual([0, true]);
      expect(await isServed()).toBe(false);
    },
  );

  it("refuses a folder that is not there before it starts anything", async () => {
    const unused = join(folder, "unused");
    const { code, stderr } = await candor("demo", "--migrations", join(folder, "nowhere"), "--data", unused);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^candor: bad-argument: .*nowhere.*\n$/)]);
    expect(existsSync(unused)).toBe(false);
  });

  it("ends in order at Ctrl-C, with all that it started", { timeout: demoMs }, async () => {
    const demo = startDemo();
    await demo.until("pays invoice-1041");
    expect(await isServed()).toBe(true);
    demo.child.kill("SIGINT");
    expect(await demo.ended).toEqual([130, null]);
    expect(demo.stderr().trim().split("\n").at(-1)).toMatch(/^Interrupted\. /);
    expect(await isServed()).toBe(false);
  });

  it("fails where the guard could not be right: one subagent is killed", { timeout: demoMs }, async () => {
    const demo = startDemo("--json");
    await demo.until("pays invoice-1041");
    const payer = /pay-invoices: works as process (?<pid>\d+)/.exec(demo.stderr())?.groups?.["pid"] ?? "";
    const commandLine = `/proc/${payer}/cmdline`;
    // The token is a secret: where every user sees the arguments of a process, it is not among them.
    if (existsSync("/proc/self")) expect(readFileSync(commandLine, "utf8")).toMatch(/main\.js\0payer\0$/);
    process.kill(Number(payer), "SIGKILL");
    expect(await demo.ended).toEqual([1, null]);
    const { right, rows } = JSON.parse(demo.stdout()) as Printed;
    expect(right).toBe(false);
    const [review, again, fetch, , hide, drop, restock, plan] = everythingRight;
    const killed = ["pay-invoices", expect.stringMatching(/^defect: The payer ended/) as unknown, undefined, "wrong"];
    expect(verdicts(rows)).toEqual([review, again, fetch, killed, hide, drop, restock, plan]);
  });
});
