import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { auditRun, openBusSource } from "@candor/cli";
import { equalBytes, type PropagatedFailure } from "@candor/contract";
import { connectOrchestrator, failureOf, type Decision, type Fleet, type Run } from "@candor/orchestrator";
import { connectSubagent, type PassUpOptions, type Subagent, type TaskContext } from "@candor/subagent";
import { candorHere } from "../kit/candor.js";
import { startWorld, type World } from "../kit/world.js";

const timeoutMs = 20_000;
const fleets = ["fleet", "planners", "buyers"] as const;
const agents = ["planner", "buyer", "fetcher"] as const;

function failureIn(decision: Decision): PropagatedFailure {
  if (decision.kind === "undecided") expect.unreachable(decision.sentence);
  return failureOf(decision.verdicts) ?? expect.unreachable("no guard says that the task failed");
}

function disclosure(decision: Decision): { verdict: string | undefined; findings: string[] } {
  const found = decision.verdicts.find(({ judge }) => judge === "disclosure");
  return { verdict: found?.verdict, findings: found?.findings.map(({ code }) => code) ?? [] };
}

/** Agents that delegate parts of their tasks, on the real path: SDKs, server, guard as shipped. */
describe("F8 failures over three layers", () => {
  let world: World;
  const connected = new Map<string, Fleet>();
  const workers = new Map<string, Subagent>();
  let run: Run;

  beforeAll(async () => {
    world = await startWorld({ identities: { orchestrator: fleets, agent: agents } });
    await world.startGuard();
    for (const name of fleets) {
      const credentials = world.folder("orchestrator", name);
      connected.set(name, await connectOrchestrator({ servers: world.urls, credentials }));
    }
    for (const name of agents) {
      workers.set(name, await connectSubagent({ servers: world.urls, credentials: world.folder("agent", name) }));
    }
    run = await fleet("fleet").openRun();
  });

  afterAll(async () => {
    for (const agent of workers.values()) await agent.close();
    for (const one of connected.values()) await one.close();
    await world.close();
  });

  const fleet = (name: string): Fleet => connected.get(name) ?? expect.unreachable(name);

  /** Delegates a task, does it, and waits for what is to be done about it. */
  async function done(
    from: Run,
    at: { readonly task: string; readonly agent: (typeof agents)[number]; readonly subFleet?: string },
    work: (ctx: TaskContext, token: string) => Promise<unknown>,
  ): Promise<Decision> {
    const { token } = await from.delegate({
      task: at.task,
      agent: world.certificate("agent", at.agent),
      brief: { keyTasks: ["work"] },
      intents: [{ name: "order", target: "shop" }],
      ...(at.subFleet === undefined ? {} : { subFleet: world.certificate("orchestrator", at.subFleet) }),
    });
    const task = await workers.get(at.agent)?.accept(token);
    await task?.run((ctx) => work(ctx, token));
    return await from.decision(at.task, { timeoutMs });
  }

  const fetchInVain = async (ctx: TaskContext): Promise<unknown> => {
    await ctx.effect({ intent: "order" }, (effect) => {
      effect.identify({ order: "o-17" });
    });
    await ctx.attempt("stock.lookup", { covers: "work", upstream: "stock", maxAttempts: 2, delayMs: 1 }, () =>
      Promise.reject(Object.assign(new TypeError("nobody there"), { code: "ECONNREFUSED" })),
    );
    return undefined;
  };

  /** The middle layer: has the stock fetched as `buyers`, and passes up what became of it. */
  const buy =
    (prefix: string, options: PassUpOptions = {}) =>
    async (ctx: TaskContext, token: string): Promise<unknown> => {
      const parts = await fleet("buyers").join(token);
      const decision = await done(parts, { task: `${prefix}-fetch`, agent: "fetcher" }, fetchInVain);
      const failure = failureIn(decision);
      parts.release();
      throw await ctx.passUp(failure, { covers: "work", ...options });
    };

  it("S22 a failed child's findings come up whole: origin, each layer's deed, the downgrade, what had happened", async () => {
    const decision = await done(
      run,
      { task: "plan", agent: "planner", subFleet: "planners" },
      async (ctx, token): Promise<unknown> => {
        const parts = await fleet("planners").join(token);
        const bought = await done(parts, { task: "plan-buy", agent: "buyer", subFleet: "buyers" }, buy("plan-buy"));
        expect(disclosure(bought)).toEqual({ verdict: "FULL_DISCLOSURE_VERIFIED", findings: [] });
        parts.release();
        const failure = failureIn(bought);
        throw await ctx.passUp(failure, {
          did: "downgraded",
          type: "partial",
          finality: "recoverable",
          covers: "work",
        });
      },
    );
    expect(disclosure(decision)).toEqual({ verdict: "FULL_DISCLOSURE_VERIFIED", findings: [] });
    expect(decision).toMatchObject({ kind: "decided", action: "verify" });
    const { layers, origin, ...failure } = failureIn(decision);
    expect(failure).toMatchObject({ task: "plan", actor: "planner", type: "partial", severity: "medium" });
    expect(origin).toMatchObject({
      task: "plan-buy-fetch",
      actor: "fetcher",
      type: "unavailable",
      finality: "exhausted",
    });
    expect(layers).toMatchObject([
      { task: "plan-buy", actor: "buyer", did: "passed", downgraded: false },
      { task: "plan", actor: "planner", did: "downgraded", says: { type: "partial" }, downgraded: true },
    ]);

    // The layer that failed first told what had happened by then; the guard hands that to whoever delegated it.
    const below = failureIn(await (await fleet("fleet").attach(run.id)).decision("plan-buy-fetch", { timeoutMs }));
    expect(below).toMatchObject({ operation: "stock.lookup", upstream: "stock", attempt: 2 });
    expect(below.attempts).toMatchObject([{ attempt: 1, type: "unavailable" }]);
    expect(below.effects).toMatchObject([{ intent: "order", identifiers: { order: "o-17" } }]);
    expect(equalBytes(below.hash, origin.hash)).toBe(true);
  });

  it("F8 candor task show prints the way up: origin, each layer's deed, the downgrade", async () => {
    const place = ["--server", ...world.urls, "--credentials", world.folder("auditor", "auditor")];
    const { exit, stdout } = await candorHere(["task", "show", run.id, "plan", ...place]);
    expect(exit).toBe(0);
    expect(stdout).toMatch(/^failed with +partial, recoverable; severity medium$/m);
    const layers = stdout.split("\n").filter((line) => /^plan(-buy(-fetch)?)? +1 /.test(line));
    expect(layers).toEqual([
      expect.stringMatching(/^plan-buy-fetch +1 +fetcher +– +failed +unavailable, exhausted/),
      expect.stringMatching(/^plan-buy +1 +buyer +unavailable, exhausted +passed +unavailable, exhausted +no /),
      expect.stringMatching(/^plan +1 +planner +unavailable, exhausted +downgraded +partial, recoverable +yes /),
    ]);
  });

  it("a child's failure that nobody passes up is found, and its success is not believed", async () => {
    const decision = await done(run, { task: "hush", agent: "planner", subFleet: "planners" }, async (ctx, token) => {
      const parts = await fleet("planners").join(token);
      await done(parts, { task: "hush-buy", agent: "buyer", subFleet: "buyers" }, buy("hush-buy"));
      parts.release();
      await ctx.attempt("write", { covers: "work" }, () => 1);
      return { claim: "pass" };
    });
    expect(decision).toMatchObject({ kind: "decided", action: "halt" });
    expect(disclosure(decision)).toEqual({
      verdict: "CONCEALMENT_DETECTED",
      findings: ["hop-dropped", "unrecovered-under-success"],
    });
  });

  it("a sub-fleet has its own tasks alone, and joins only where a delegation names it", async () => {
    await done(run, { task: "own", agent: "planner", subFleet: "planners" }, async (_, token) => {
      await expect(fleet("buyers").join(token)).rejects.toMatchObject({ code: "no-delegation" });
      const parts = await fleet("planners").join(token);
      await expect(parts.close({ state: "failed" })).rejects.toMatchObject({ code: "no-delegation" });
      parts.release();
      return { claim: "unsure" };
    });
  });

  it("B8 an audit of the run reproduces every verdict, the chains in them included", async () => {
    const closing = await run.close({ state: "failed" });
    await run.confirm(closing, { timeoutMs });
    const source = openBusSource(await world.connect("auditor", "auditor"), 16);
    const { counts, findings } = await auditRun({ source, operator: world.operatorKey, run: run.id });
    expect(findings).toEqual([]);
    expect(counts.verdict.all).toBeGreaterThan(10);
    expect(counts.verdict.reproduced).toBe(counts.verdict.all);
  });
});
