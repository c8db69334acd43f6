import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { pay, startPaymentService } from "@candor/demo";
import { connectOrchestrator, type Delegation } from "@candor/orchestrator";
import { startSubagentStage, type SubagentStage } from "../kit/subagent-stage.js";

const program = fileURLToPath(new URL("../dist/kit/payer-program.js", import.meta.url));

interface PayerProcess {
  readonly child: ChildProcess;
  readonly words: string[];
  readonly ended: Promise<number | string>;
  /** Waits until it has said a word, or ended. */
  readonly says: (word: string) => Promise<boolean>;
}

let stage: SubagentStage;
const children: ChildProcess[] = [];
beforeAll(async () => {
  stage = await startSubagentStage();
});
afterAll(() => stage.close());
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

interface Job {
  readonly spoolDir: string;
  readonly tokenFile: string;
  readonly payments: string;
  readonly ready: string;
  readonly delayMs: number;
  readonly service?: string;
}

function jobOf(delegation: Delegation, spoolDir = stage.spoolDir()): Job {
  const base = join(stage.world.dir, `${delegation.task}-${delegation.epoch}`);
  writeFileSync(`${base}.token`, delegation.token, { mode: 0o600 });
  return {
    spoolDir,
    tokenFile: `${base}.token`,
    payments: `${base}.payments`,
    ready: `${base}.ready`,
    delayMs: 60_000,
  };
}

function start(job: Job): PayerProcess {
  const facts = { ...job, servers: stage.world.urls, credentials: stage.world.folder("agent", "payer") };
  const child = spawn(process.execPath, [program, JSON.stringify(facts)], { stdio: ["pipe", "pipe", "inherit"] });
  children.push(child);
  const words: string[] = [];
  child.stdout.setEncoding("utf8").on("data", (text: string) => words.push(...text.trim().split("\n")));
  const ended = once(child, "exit").then(([code, signal]) => (signal ?? code) as number | string);
  const says = async (word: string): Promise<boolean> => {
    while (!words.includes(word) && child.exitCode === null && child.signalCode === null) {
      await Promise.race([once(child.stdout, "data"), ended]);
    }
    return words.includes(word);
  };
  return { child, words, ended, says };
}

const payments = (job: Job): number =>
  existsSync(job.payments) ? readFileSync(job.payments, "utf8").trim().split("\n").length : 0;

describe("R11 a subagent that is killed", () => {
  it("goes on with its spool and ends fully disclosed; what it paid is paid once", async () => {
    const delegation = await stage.delegate({ keyTasks: ["pay", "read"] });
    const job = jobOf(delegation);
    const first = start(job);
    expect(await first.says("failed")).toBe(true);
    first.child.kill("SIGKILL");
    await first.ended;
    writeFileSync(job.ready, "");
    const second = start(job);
    expect(await second.ended).toBe(0);
    expect(second.words).toContain("reported-pass");
    expect(payments(job)).toBe(1);
    expect(await stage.decide(delegation.task)).toMatchObject({
      action: "proceed",
      disclosure: "FULL_DISCLOSURE_VERIFIED",
    });
    const third = start(job);
    await third.ended;
    expect(third.words).toEqual(["task-over"]);
  });

  it("is never found to conceal, whenever it was killed, and never pays twice", { timeout: 180_000 }, async () => {
    const outcomes: string[] = [];
    for (let round = 0; round < 4; round += 1) {
      const delegation = await stage.delegate({ keyTasks: ["pay", "read"] });
      const job = jobOf(delegation);
      writeFileSync(job.ready, "");
      for (let kills = 0; kills < 3; kills += 1) {
        const victim = start(job);
        if (kills < 2 && (await victim.says("accepted"))) {
          await new Promise((resolve) => setTimeout(resolve, Math.random() * 30));
          victim.child.kill("SIGKILL");
        }
        await victim.ended;
      }
      expect(payments(job)).toBeLessThanOrEqual(1);
      const { disclosure = "none", findings } = await stage.decide(delegation.task);
      expect([disclosure, findings]).not.toContain("CONCEALMENT_DETECTED");
      outcomes.push(disclosure);
    }
    expect(outcomes).toContain("FULL_DISCLOSURE_VERIFIED");
  });

  it("without its spool asks for a new delegation, and the old epoch is abandoned, not concealed", async () => {
    const delegation = await stage.delegate();
    const job = jobOf(delegation);
    const first = start(job);
    expect(await first.says("paid")).toBe(true);
    first.child.kill("SIGKILL");
    await first.ended;
    rmSync(job.spoolDir, { recursive: true });
    const second = start(job);
    await second.ended;
    expect(second.words).toEqual(["spool-lost"]);
    const again = jobOf(await stage.redelegate(delegation.task));
    writeFileSync(again.ready, "");
    const third = start(again);
    expect(await third.ended).toBe(0);
    const seen: string[] = [];
    for await (const { verdict } of stage.run.verdicts()) {
      if (verdict.task !== delegation.task) continue;
      seen.push(verdict.verdict);
      if (verdict.verdict === "FULL_DISCLOSURE_VERIFIED") break;
    }
    expect(seen).toContain("EPOCH_ABANDONED");
    expect(seen).not.toContain("CONCEALMENT_DETECTED");
  });
});

describe("F7 S19 an agent that dies after its dispatch and loses its spool", () => {
  it("is delegated again under the same intent key: one payment at a service that honours keys", async () => {
    let book: (() => void) | undefined;
    const booking = new Promise<void>((resolve) => (book = resolve));
    let arrived: (() => void) | undefined;
    const arrival = new Promise<void>((resolve) => (arrived = resolve));
    const service = await startPaymentService({ onEntry: () => arrived?.(), transfer: () => booking });
    try {
      const delegation = await stage.delegate();
      const job = { ...jobOf(delegation), service: service.url };
      const first = start(job);
      await arrival;
      first.child.kill("SIGKILL");
      await first.ended;
      book?.();
      rmSync(job.spoolDir, { recursive: true });

      const again = await stage.redelegate(delegation.task);
      expect(again.intentKeys).toEqual(delegation.intentKeys);
      const second = start({ ...jobOf(again), service: service.url });
      await second.ended;
      // It is never guessed whether the first one happened.
      expect(second.words).toContain("intent-key-in-doubt");
      expect(service.book().payments).toHaveLength(1);

      // Whoever settles the doubt by asking once more gets the first result.
      const idempotencyKey = again.intentKeys["charge"] ?? "";
      const order = { amount: 40, currency: "EUR", recipient: "r1" };
      expect(await pay(service.url, { ...order, idempotencyKey })).toMatchObject({ state: "booked" });
      expect(service.book().payments).toHaveLength(1);
    } finally {
      await service.close();
    }
  });

  it("is delegated to another agent, by another process of the orchestrator, under the same key", async () => {
    const { world, run } = stage;
    const delegation = await stage.delegate();
    const agent = await stage.agent();
    const task = await agent.accept(delegation.token);
    await task.run(async (ctx) => {
      await ctx.effect({ intent: "charge" }, (effect) => ({ receipt: effect.key }));
      return { claim: "fail" };
    });
    const other = await connectOrchestrator({
      servers: world.urls,
      credentials: world.folder("orchestrator", "fleet"),
    });
    try {
      const attached = await other.attach(run.id);
      const again = await attached.redelegate(delegation.task, {
        agent: world.certificate("agent", "fetcher"),
        intents: ["mail", { name: "charge", target: "payments" }],
        predecessor: "payer",
      });
      expect(again.intentKeys).toMatchObject(delegation.intentKeys);
      const fetcher = await stage.agent({ credentials: world.folder("agent", "fetcher") });
      const taken = await fetcher.accept(again.token);
      let calls = 0;
      let receipt: unknown;
      await taken.run(async (ctx) => {
        receipt = await ctx.effect({ intent: "charge" }, () => (calls += 1) as unknown);
        return { claim: "pass" };
      });
      expect(calls).toBe(0);
      expect(receipt).toEqual({ receipt: delegation.intentKeys["charge"] });
    } finally {
      await other.close();
    }
  });
});

describe("S15 several processes of one agent", () => {
  it("with one spool: one works, the others find it locked", async () => {
    const job = jobOf(await stage.delegate());
    const processes = Array.from({ length: 4 }, () => start(job));
    await Promise.all(processes.map(({ says }) => Promise.race([says("accepted"), says("spool-locked")])));
    const said = processes.map(({ words }) => words[0]).sort();
    expect(said).toEqual(["accepted", "spool-locked", "spool-locked", "spool-locked"]);
  });

  it("with one stale lock of a killed process: one takes it over", async () => {
    const job = jobOf(await stage.delegate());
    const first = start(job);
    expect(await first.says("failed")).toBe(true);
    first.child.kill("SIGKILL");
    await first.ended;
    const processes = Array.from({ length: 4 }, () => start(job));
    await Promise.all(processes.map(({ says }) => Promise.race([says("accepted"), says("spool-locked")])));
    const said = processes.map(({ words }) => words[0]).sort();
    expect(said).toEqual(["accepted", "spool-locked", "spool-locked", "spool-locked"]);
  });

  it("with spools of their own: the server lets one win", async () => {
    const delegation = await stage.delegate();
    const processes = Array.from({ length: 4 }, () => start(jobOf(delegation)));
    await Promise.all(
      processes.map(({ says }) =>
        Promise.race(["accepted", "already-accepted", "spool-lost"].map((word) => says(word))),
      ),
    );
    const said = processes.map(({ words }) => words[0]);
    expect(said.filter((word) => word === "accepted")).toHaveLength(1);
    expect(said.filter((word) => word === "already-accepted" || word === "spool-lost")).toHaveLength(3);
  });
});
