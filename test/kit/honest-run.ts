import { join } from "node:path";
import type { Embedded } from "@candor/cli";
import type { Certificate } from "@candor/contract";
import { readCertificateFile, type Credentials } from "@candor/ledger/files";
import { connectOrchestrator } from "@candor/orchestrator";
import { connectSubagent } from "@candor/subagent";

export interface Stage {
  readonly servers: readonly string[];
  readonly fleet: string | Credentials;
  readonly agent: string | Credentials;
  readonly agentCertificate: Certificate;
  readonly memoryDir?: string;
  readonly spoolDir?: string;
}

/** The stage that an embedded server with its usual identities is. */
export function stageOf({ url, authDir, dataDir, credentials }: Embedded): Stage {
  return {
    servers: [url],
    fleet: credentials({ role: "orchestrator", name: "fleet" }),
    agent: credentials({ role: "agent", name: "agent" }),
    agentCertificate: readCertificateFile(join(authDir, "certificates", "agent-agent.json")),
    memoryDir: join(dataDir, "memory"),
  };
}

/** Plays a run of three tasks through both SDKs: one that succeeds with a retry and an effect, one that fails, one recalled. */
export async function playHonestRun(stage: Stage, run: string): Promise<void> {
  const { servers, agentCertificate: certificate, memoryDir, spoolDir } = stage;
  const fleet = await connectOrchestrator({
    servers,
    credentials: stage.fleet,
    ...(memoryDir === undefined ? {} : { memoryDir }),
  });
  const agent = await connectSubagent({
    servers,
    credentials: stage.agent,
    ...(spoolDir === undefined ? {} : { spoolDir }),
  });
  const opened = await fleet.openRun({ run, title: "a run of the tests" });

  const paid = await opened.delegate({
    task: "pays",
    agent: certificate,
    intents: [{ name: "charge", target: "payments" }],
    brief: { title: "Pay the bill", keyTasks: ["lookup", "charge"] },
  });
  let failures = 1;
  await (
    await agent.accept(paid.token)
  ).run(async (ctx) => {
    await ctx.attempt("lookup", { covers: "lookup", upstream: "db", maxAttempts: 3, delayMs: 1 }, () => {
      if (failures-- > 0) throw Object.assign(new TypeError("busy at bill@example.org"), { status: 503 });
      return 1;
    });
    await ctx.effect({ intent: "charge", covers: "charge" }, (effect) => {
      effect.identify({ payment: effect.key });
    });
    return { claim: "pass", summary: "paid the bill of bill@example.org" };
  });
  await opened.decision("pays", { timeoutMs: 20_000 });

  const failed = await opened.delegate({ task: "fails", agent: certificate });
  await (
    await agent.accept(failed.token)
  ).run((ctx) =>
    ctx.attempt("call", { maxAttempts: 2, delayMs: 1 }, () => {
      throw Object.assign(new TypeError("gone"), { status: 404 });
    }),
  );
  await opened.decision("fails", { timeoutMs: 20_000 });

  const stopped = await opened.delegate({ task: "stops", agent: certificate });
  const task = await agent.accept(stopped.token);
  const over = task.run(
    (ctx) =>
      new Promise((resolve) => {
        ctx.signal.addEventListener("abort", () => {
          resolve({ claim: "fail", summary: "stopped" });
        });
      }),
  );
  await opened.recall("stops", { graceMs: 1_000, reason: "tests" });
  await over;
  await opened.decision("stops", { timeoutMs: 20_000 });
  await agent.close();
  await fleet.close();
}
