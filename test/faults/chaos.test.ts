import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readOptions } from "./options.js";

const program = fileURLToPath(new URL("../dist/faults/main.js", import.meta.url));
/** Where the runs keep everything, so that a test sees what they leave behind. */
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "candor-chaos-"));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

interface Ended {
  readonly exit: number | null;
  readonly figures: Readonly<Record<string, number>>;
  readonly printed: string;
  readonly said: string;
}

interface RunOptions {
  /** Interrupts it once it has said this. */
  readonly interruptAt?: string;
}

function chaos(args: readonly string[], { interruptAt }: RunOptions = {}): Promise<Ended> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [program, ...args], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, TMPDIR: folder },
    });
    let printed = "";
    let said = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      said += text;
      if (interruptAt !== undefined && said.includes(interruptAt)) child.kill("SIGINT");
    });
    child.on("close", (exit) => {
      const figures = printed.startsWith("{") ? (JSON.parse(printed) as Ended["figures"]) : {};
      resolve({ exit, figures, printed, said });
    });
  });
}

/** Processes of this machine that were started with something of our folder. */
function leftOver(): string[] {
  const pids = existsSync("/proc") ? readdirSync("/proc").filter((name) => /^\d+$/.test(name)) : [];
  return pids.filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(folder);
    } catch {
      return false;
    }
  });
}

const allTold = { doubled: 0, missing: 0, outOfOrder: 0, differing: 0, alarms: 0 };

describe("B5 two guards on a lane, while they are killed", () => {
  it("store every verdict once and in order, also those whose answers they did not live to see", async () => {
    const { exit, figures, said } = await chaos(["guard", "--inputs", "60", "--kills", "4", "--limit", "110"]);
    expect({ exit, figures }, said).toMatchObject({ exit: 0, figures: { ...allTold, kills: 4, nodes: 1, zombies: 2 } });
    expect(figures["inputs"]).toBeGreaterThanOrEqual(60);
    expect(figures["verdicts"]).toBeGreaterThan(60);
    expect(figures["killsBeforeAnswer"]).toBeGreaterThanOrEqual(3);
  }, 120_000);

  it("do so on three nodes, of which a leader is killed too", async () => {
    const args = ["guard", "--inputs", "30", "--kills", "2", "--nodes", "3", "--limit", "110"];
    const { exit, figures, said } = await chaos(args);
    expect({ exit, figures }, said).toMatchObject({
      exit: 0,
      figures: { ...allTold, kills: 2, nodes: 3, leaderKills: 1 },
    });
  }, 120_000);
});

describe("R2 the dispatch fence, while recalls land", () => {
  it.each([
    ["one node", "15", "1"],
    ["three nodes", "4", "3"],
  ])(
    "lets no dispatch past a recall on %s",
    async (_, rounds, nodes) => {
      const { exit, figures, said } = await chaos(["fence", "--rounds", rounds, "--nodes", nodes, "--limit", "110"]);
      const good = { rounds: Number(rounds), nodes: Number(nodes), storedAfter: 0, misreported: 0, ranUnstored: 0 };
      expect({ exit, figures }, said).toMatchObject({ exit: 0, figures: good });
      expect(figures["refusedByServer"]).toBeGreaterThan(0);
      expect(figures["storedBefore"]).toBeGreaterThan(0);
      expect(figures["attemptsNear"]).toBeGreaterThanOrEqual(5);
    },
    120_000,
  );
});

describe("F7 S19 S20 a payer that is killed around its effect", () => {
  it("pays once, and the task ends as the intent declares, at each of ten points", async () => {
    const { exit, printed, said } = await chaos(["effect", "--short", "--json", "--limit", "110"]);
    const rows = JSON.parse(printed) as readonly { good: boolean; expected: unknown; happened: unknown }[];
    expect(exit, said).toBe(0);
    expect(rows).toHaveLength(10);
    for (const { expected, happened } of rows) expect(happened).toEqual(expected);
  }, 120_000);
});

describe("Q2 a mistake in the arguments", () => {
  it.each([
    ["nothing to do", []],
    ["an unknown command", ["guards"]],
    ["an unknown option", ["guard", "--loud"]],
    ["a number that is none", ["guard", "--inputs", "many"]],
    ["two nodes", ["fence", "--nodes", "2"]],
    ["the other command's option", ["fence", "--kills", "3"]],
    ["the long form of a short command", ["guard", "--short"]],
    ["fewer inputs than kills need", ["guard", "--inputs", "10", "--kills", "10"]],
  ])("is refused by name: %s", (_, args) => {
    expect(() => readOptions(args)).toThrow(expect.objectContaining({ code: "bad-argument" }) as Error);
  });

  it("is one clear line and exit 2", async () => {
    const { exit, said } = await chaos(["guard", "--inputs", "10", "--kills", "10"]);
    expect(exit).toBe(2);
    expect(said).toMatch(/^chaos: bad-argument: .+\n$/);
  });
});

describe("an interruption", () => {
  it("leaves neither processes nor folders behind", async () => {
    const { exit } = await chaos(["guard", "--inputs", "400"], { interruptAt: "1 of 12" });
    expect(exit).toBe(130);
    expect(leftOver()).toEqual([]);
    expect(readdirSync(folder)).toEqual([]);
  });
});
