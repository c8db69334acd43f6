import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { randomUUID } from "node:crypto";
import { AckPolicy, type Consumer } from "@nats-io/jetstream";
import type { Bus } from "@candor/bus";
import {
  laneOf,
  parseStoredSubject,
  runTask,
  streams,
  type AdmittedOf,
  type EventKind,
  type VerdictBody,
} from "@candor/contract";
import { pay, startPaymentService } from "@candor/demo";
import { admit } from "@candor/ledger";
import {
  connectOrchestrator,
  connectProber,
  type BriefOptions,
  type Delegation,
  type Fleet,
  type IntentRequest,
  type Run,
} from "@candor/orchestrator";
import { connectSubagent, type Subagent, type SubagentTask } from "@candor/subagent";
import { candor, candorHere } from "../kit/candor.js";
import { HandAgent } from "../kit/hand-agent.js";
import { startWorld, type World } from "../kit/world.js";

/** A consumer of an auditor's own on part of the log. Its name is in the request's subject, which permissions go by. */
async function filtered({ js, jsm }: Bus, filter: string): Promise<Consumer> {
  const { name } = await jsm.consumers.add(streams.log, {
    name: randomUUID(),
    filter_subject: filter,
    ack_policy: AckPolicy.None,
  });
  return js.consumers.get(streams.log, name);
}

type Callback = Parameters<SubagentTask["run"]>[0];

const quick = { maxAttempts: 3, delayMs: 1 };
const timeoutMs = 20_000;

/** Failures that people met, on the real path: SDK or hand-made agent, server, guard as shipped, orchestrator. */
describe("scenarios", () => {
  let world: World;
  let fleet: Fleet;
  let run: Run;
  let agent: Subagent;
  let tasks = 0;

  beforeAll(async () => {
    world = await startWorld();
    await world.startGuard();
    fleet = await connectOrchestrator({ servers: world.urls, credentials: world.folder("orchestrator", "fleet") });
    run = await fleet.openRun({ probers: [world.certificate("prober", "prober")] });
    agent = await connectSubagent({ servers: world.urls, credentials: world.folder("agent", "payer") });
  });

  afterAll(async () => {
    await agent.close();
    await fleet.close();
    await world.close();
  });

  async function delegate(brief: BriefOptions = {}, intents: readonly IntentRequest[] = []): Promise<Delegation> {
    tasks += 1;
    return run.delegate({
      task: `s-${tasks}`,
      agent: world.certificate("agent", "payer"),
      brief: { keyTasks: ["work"], retryBudget: 9, ...brief },
      intents,
    });
  }

  async function honestly(delegation: Delegation, callback: Callback): Promise<void> {
    const task = await agent.accept(delegation.token);
    await task.run(callback);
  }

  async function byHand(delegation: Delegation): Promise<HandAgent> {
    return HandAgent.accept(
      await world.connect("agent", "payer"),
      world.credentials("agent", "payer"),
      delegation.token,
    );
  }

  /** What the guard says in the end, and what the orchestrator is to do. */
  async function outcome(task: string): Promise<{ verdict: string; action: string; findings: string[] }> {
    const decision = await run.decision(task, { timeoutMs });
    if (decision.kind === "undecided") expect.unreachable(decision.sentence);
    const verdict = decision.verdicts.find(({ judge }: VerdictBody) => judge === "disclosure");
    return {
      verdict: verdict?.verdict ?? "none",
      action: decision.action,
      findings: verdict?.findings.map(({ code }) => code) ?? [],
    };
  }

  /** A task's events of one kind, as an auditor reads them: by a filter on the subject. */
  async function eventsOf<K extends EventKind>(task: string, kind: K): Promise<AdmittedOf<K>[]> {
    const auditor = await world.connect("auditor", "auditor");
    const filter = `candor.log.${laneOf(run.id, 16)}.${run.id}.${task}.agent.*.${kind}`;
    const consumer = await filtered(auditor, filter);
    const { num_pending: count } = await consumer.info();
    const found: AdmittedOf<K>[] = [];
    const messages = await consumer.fetch({ max_messages: Math.max(1, count), expires: 1_000 });
    for await (const message of messages) {
      expect(parseStoredSubject(message.subject)).toMatchObject({ run: run.id, task, kind });
      const entry = admit({ seq: message.seq, timeMs: 0, subject: message.subject, data: message.data });
      if (entry.type === "event") found.push(entry as unknown as AdmittedOf<K>);
      if (found.length === count) break;
    }
    return found;
  }

  it("S1 every model call failed, the answer was empty, success was reported", async () => {
    const delegation = await delegate();
    await honestly(delegation, async (ctx) => {
      await ctx
        .attempt("model", { ...quick, covers: "work" }, () =>
          Promise.reject(Object.assign(new Error("x"), { status: 503 })),
        )
        .catch(() => undefined);
      return { claim: "pass", summary: "" };
    });
    const { verdict, action, findings } = await outcome(delegation.task);
    expect([verdict, action]).toEqual(["CONCEALMENT_DETECTED", "halt"]);
    expect(findings).toEqual(expect.arrayContaining(["unrecovered-under-success", "no-work"]));
  });

  it("S2 a task's errored state overwritten by a later completed", async () => {
    const delegation = await delegate();
    const liar = await byHand(delegation);
    await liar.report({ claim: "fail", finishReason: "error" });
    expect((await outcome(delegation.task)).action).toBe("redispatch");
    await liar.report();
    await expect
      .poll(() => outcome(delegation.task), { timeout: timeoutMs })
      .toMatchObject({ action: "halt", findings: ["failure-turned-success"] });
  });

  it("S3 a provider error that ended the turn is a typed failure from the SDK's own observation", async () => {
    const delegation = await delegate();
    await honestly(delegation, async (ctx) => {
      await ctx.attempt("model", { ...quick, covers: "work" }, () =>
        Promise.reject(Object.assign(new Error("x"), { status: 500 })),
      );
      return { claim: "pass", summary: "All is well." };
    });
    expect(await outcome(delegation.task)).toEqual({
      verdict: "FULL_DISCLOSURE_VERIFIED",
      action: "redispatch",
      findings: [],
    });
    const [report] = await eventsOf(delegation.task, "report");
    expect(report?.payload).toMatchObject({ claim: "fail", finishReason: "error" });
  });

  it("S4 success beside a finish reason of error never proceeds", async () => {
    const delegation = await delegate();
    await (await byHand(delegation)).report({ finishReason: "error" });
    expect(await outcome(delegation.task)).toEqual({
      verdict: "CONCEALMENT_DETECTED",
      action: "halt",
      findings: ["failure-turned-success"],
    });
  });

  it("S5 a failed call early on, then good work: verified, with the error listed as recovered", async () => {
    const delegation = await delegate();
    await honestly(delegation, async (ctx) => {
      await ctx.error(new Error("ls: no such folder"), { operation: "ls", recovered: true });
      await ctx.attempt("work", { covers: "work" }, () => 1);
      return { claim: "pass", summary: "Done." };
    });
    expect(await outcome(delegation.task)).toEqual({
      verdict: "FULL_DISCLOSURE_VERIFIED",
      action: "proceed",
      findings: [],
    });
    const [report] = await eventsOf(delegation.task, "report");
    expect(report?.payload.receipts?.errorLog.errors).toMatchObject([{ recovered: true }]);
  });

  it("S6 one 429 is a transient failure with its attempts, not a result", async () => {
    const delegation = await delegate();
    await honestly(delegation, async (ctx) => {
      await ctx.attempt("model", { ...quick, covers: "work" }, () =>
        Promise.reject(Object.assign(new Error("x"), { status: 429 })),
      );
      return { claim: "pass", summary: "never reached" };
    });
    expect(await outcome(delegation.task)).toMatchObject({ verdict: "FULL_DISCLOSURE_VERIFIED", action: "redispatch" });
    const errors = await eventsOf(delegation.task, "error");
    expect(errors.map(({ payload }) => [payload.type, payload.finality, payload.attempt])).toEqual([
      ["transient", "recoverable", 1],
      ["transient", "recoverable", 2],
      ["transient", "exhausted", 3],
    ]);
    expect(errors.at(-1)?.payload.attempts).toHaveLength(2);
  });

  it("S7 no call at all, an artifact claimed, and a probe that does not find it", async () => {
    const delegation = await delegate({ critical: true });
    await honestly(delegation, () => ({ claim: "pass", summary: "The page is up." }));
    const prober = await connectProber({ servers: world.urls, credentials: world.folder("prober", "prober") });
    const { task, epoch } = delegation;
    await prober.publishProbe({
      run: run.id,
      task,
      epoch,
      target: { of: "task" },
      method: "GET the address: 404",
      outcome: "contradicted",
    });
    await prober.close();
    const { verdict, action, findings } = await outcome(task);
    expect([verdict, action]).toEqual(["CONCEALMENT_DETECTED", "halt"]);
    expect(findings).toEqual(expect.arrayContaining(["no-work", "probe-contradicts"]));
  });

  it("S14 a superseded worker does not reopen a completed task", async () => {
    const delegation = await delegate();
    const old = await byHand(delegation);
    const again = await run.redelegate(delegation.task, {
      agent: world.certificate("agent", "payer"),
      brief: { keyTasks: ["work"] },
    });
    await honestly(again, async (ctx) => {
      await ctx.attempt("work", { covers: "work" }, () => 1);
      return { claim: "pass", summary: "Done." };
    });
    expect((await outcome(delegation.task)).action).toBe("proceed");
    const refused: string[] = [];
    const auditor = await world.connect("auditor", "auditor");
    auditor.nc.subscribe(`candor.live.quarantine.*.payer.*`, {
      callback: (_, message) => {
        refused.push(message.subject);
      },
    });
    await auditor.nc.flush();
    await old.report({ claim: "fail", finishReason: "error" });
    await expect.poll(() => refused.length, { timeout: timeoutMs }).toBe(1);
    expect((await outcome(delegation.task)).action).toBe("proceed");
  });

  it("S16 429, 529, then success: the retry manifest shows two", async () => {
    const delegation = await delegate();
    await honestly(delegation, async (ctx) => {
      const answers = [429, 529];
      await ctx.attempt("model", { ...quick, covers: "work", upstream: "provider" }, () => {
        const status = answers.shift();
        if (status !== undefined) throw Object.assign(new Error("busy"), { status });
        return "text";
      });
      return { claim: "pass", summary: "Done." };
    });
    expect(await outcome(delegation.task)).toEqual({
      verdict: "FULL_DISCLOSURE_VERIFIED",
      action: "proceed",
      findings: [],
    });
    const [report] = await eventsOf(delegation.task, "report");
    expect(
      report?.payload.receipts?.retries.entries.map(({ upstream, attempt, outcome: end }) => [upstream, attempt, end]),
    ).toEqual([
      ["provider", 2, "failed"],
      ["provider", 3, "ok"],
    ]);
  });

  it("T6 candor calibration sets what was said beside what the prober found", async () => {
    // S7 claimed success with a clean sheet, and the prober contradicted it.
    const place = ["--server", world.urls.join(","), "--credentials", world.folder("auditor", "auditor")];
    const { exit, stdout, stderr } = await candor(["calibration", run.id, ...place, "--json"]);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
    expect(JSON.parse(stdout)).toMatchObject({
      runs: 1,
      reports: 1,
      subagents: [{ actor: "payer", count: 1, confirmed: 0, selfReported: { count: 0, brier: null } }],
    });
    const none = await candorHere(["calibration", "no-such-run", ...place]);
    expect([none.exit, none.stderr]).toEqual([2, expect.stringContaining("not-found") as string]);
    const text = (await candor(["calibration", ...place])).stdout;
    expect(text).toMatch(/^1 report with a probe's answer in 1 run\./);
    expect(text).toMatch(/payer +1 +0 +0\.0000 +– +0/);
  });

  it("S17 one logged attempt was three requests, twelve with the outer loop: the figure is 12, its layers named", async () => {
    const delegation = await delegate({ retryBudget: 20 });
    let requests = 0;
    await honestly(delegation, async (ctx) => {
      await ctx.attempt("turn", { maxAttempts: 4, delayMs: 1, covers: "work" }, () =>
        ctx.attempt("http", { ...quick, upstream: "provider" }, () => {
          requests += 1;
          if (requests < 12) throw Object.assign(new Error("x"), { status: 503 });
        }),
      );
      return { claim: "pass", summary: "Done." };
    });
    expect(await outcome(delegation.task)).toMatchObject({ verdict: "FULL_DISCLOSURE_VERIFIED", action: "proceed" });
    const [report] = await eventsOf(delegation.task, "report");
    expect(report?.payload.receipts?.retries.amplification).toEqual({
      requests: 12,
      layers: [
        { operation: "turn", tries: 4 },
        { operation: "http", tries: 3 },
      ],
    });
    expect(report?.payload.upstreams).toEqual([{ upstream: "provider", calls: 4, firstTry: 0, tries: 12 }]);
  });

  it("S18 reworded arguments are no second charge: one effect, and the guard lists the second meaning", async () => {
    const delegation = await delegate({}, [{ name: "charge", target: "payments" }]);
    const charged: string[] = [];
    await honestly(delegation, async (ctx) => {
      const charge = (memo: string): Promise<string> =>
        ctx.effect({ intent: "charge", covers: "work", arguments: { amount: 40, memo } }, ({ key }) => {
          charged.push(key);
          return `receipt ${charged.length}`;
        });
      expect([await charge("invoice 7"), await charge("invoice 7")]).toEqual(["receipt 1", "receipt 1"]);
      await charge("for invoice no. 7").catch((error: unknown) => ctx.error(error, { recovered: true }));
      return { claim: "pass", summary: "Charged." };
    });
    expect(charged).toEqual([delegation.intentKeys["charge"]]);
    expect(await outcome(delegation.task)).toEqual({
      verdict: "FULL_DISCLOSURE_VERIFIED",
      action: "verify",
      findings: ["intent-key-reuse"],
    });
  });

  it("S19 a time-out and a retry at a service that honours keys: the same key goes out, and one payment is booked", async () => {
    const service = await startPaymentService();
    try {
      const delegation = await delegate({}, [{ name: "charge", target: "payments", inDoubt: "reissue" }]);
      const order = { amount: 40, currency: "EUR", recipient: "r1" };
      let tries = 0;
      await honestly(delegation, async (ctx) => {
        await ctx.attempt("charge", { ...quick, covers: "work", upstream: "payments" }, () =>
          ctx.effect({ intent: "charge", arguments: order }, async ({ key }) => {
            tries += 1;
            await pay(service.url, { ...order, idempotencyKey: key });
            if (tries === 1) throw new DOMException("the answer was lost", "TimeoutError");
          }),
        );
        return { claim: "pass", summary: "Charged." };
      });
      expect(tries).toBe(2);
      expect(service.book().payments).toHaveLength(1);
      expect(await outcome(delegation.task)).toEqual({
        verdict: "FULL_DISCLOSURE_VERIFIED",
        action: "proceed",
        findings: [],
      });
    } finally {
      await service.close();
    }
  });

  it("S20 a step that runs three times sends one e-mail to each recipient", async () => {
    const delegation = await delegate({}, [{ name: "mail", target: "smtp", discriminator: "recipient" }]);
    const sent: string[] = [];
    await honestly(delegation, async (ctx) => {
      for (let step = 0; step < 3; step += 1) {
        for (const recipient of ["ann@example.org", "bob@example.org"]) {
          await ctx.effect({ intent: "mail", covers: "work", arguments: { recipient } }, ({ key }) => {
            sent.push(key);
          });
        }
      }
      return { claim: "pass", summary: "Sent." };
    });
    expect(new Set(sent).size).toBe(2);
    expect(sent).toHaveLength(2);
    expect(await outcome(delegation.task)).toMatchObject({ action: "proceed", findings: [] });
  });

  it("S16 D2 the upstream's health shows them too, although the tasks succeeded", async () => {
    for await (const { verdict } of run.verdicts({ signal: AbortSignal.timeout(timeoutMs) })) {
      if (verdict.judge !== "upstream" || verdict.task !== runTask) continue;
      expect(verdict).toMatchObject({ verdict: "UPSTREAM_DEGRADED", action: "wait", final: false });
      expect(verdict.findings).toContainEqual({ code: "upstream-degraded", about: "provider" });
      expect(verdict.upstreams).toMatchObject([{ upstream: "provider", calls: 5, firstTry: 0, recovered: 2, failed: 3, tasks: 2 }]); // prettier-ignore
      break;
    }
  });

  it("B2 a filter on the subject is useful by itself: the errors of one run, and nothing else", async () => {
    const auditor = await world.connect("auditor", "auditor");
    const filter = `candor.log.*.${run.id}.*.agent.*.error`;
    const consumer = await filtered(auditor, filter);
    const { num_pending: count } = await consumer.info();
    // S1, S3 and S6 failed three times each, S16 twice, S17 eleven times, S19 once, S18 was refused once, and S5 had one error
    // that it dealt with.
    expect(count).toBe(25);
    let seen = 0;
    for await (const message of await consumer.fetch({ max_messages: count, expires: 2_000 })) {
      expect(parseStoredSubject(message.subject)).toMatchObject({ run: run.id, role: "agent", kind: "error" });
      seen += 1;
      if (seen === count) break;
    }
    expect(seen).toBe(count);
  });
});
