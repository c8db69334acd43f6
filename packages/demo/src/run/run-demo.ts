import { CandorError, type Logger, type VerdictBody } from "@candor/contract";
import { readCertificateFile } from "@candor/ledger/files";
import { connectOrchestrator, connectProber, type Prober } from "@candor/orchestrator";
import { agentNames, connectTimeoutMs, principalNames } from "../agents/messages.js";
import { defaultMigrations } from "../migrations/folder-review.js";
import { listSqlFiles } from "../migrations/sql-folder.js";
import { spawnService } from "../services/spawn-service.js";
import { chainPlan, subFleets, type ChainPlace } from "./chain-plan.js";
import { taskOf, type DemoTask } from "./demo-task.js";
import { lookupPlan } from "./lookup-plan.js";
import { PaymentWatch, paymentPlan } from "./payment-plan.js";
import { Pairing } from "./pairing.js";
import type { Plan } from "./plan.js";
import { restockPlan } from "./restock-plan.js";
import { reviewPlans } from "./review-plan.js";
import type { Row } from "./row.js";
import { performTask } from "./task-run.js";
import { VerdictStory } from "./verdict-story.js";

/** Identities that the demo needs. */
export const demoIdentities = [
  { role: "orchestrator", name: "fleet" },
  { role: "prober", name: "prober" },
  ...subFleets.map((name) => ({ role: "orchestrator", name }) as const),
  ...agentNames.map((name) => ({ role: "agent", name }) as const),
] as const;
export type DemoIdentity = (typeof demoIdentities)[number];

/** The tasks of the demo, in order. */
export const demoTasks: readonly DemoTask[] = principalNames.map((agent) => taskOf(agent));

/** What happens, for whoever looks on. */
export interface DemoProgress extends DemoTask {
  readonly text: string;
  /** The line of the table, once there is nothing more to come. */
  readonly row?: Row;
}

export interface DemoOptions {
  /** Addresses of a server with streams, permissions and a guard. */
  readonly servers: readonly string[];
  /** Credentials folder of an identity. */
  readonly credentials: (identity: DemoIdentity) => string;
  /** Certificate file of an identity. */
  readonly certificate: (identity: DemoIdentity) => string;
  /** Folder in which the orchestrator remembers what it saw. */
  readonly memoryDir: string;
  /** Folder with SQL migrations; the demo's own by default. */
  readonly migrations?: string;
  readonly onProgress?: (progress: DemoProgress) => void;
  readonly signal?: AbortSignal;
  readonly logger?: Logger;
}

export interface DemoResult {
  /** Id of the run. */
  readonly run: string;
  readonly lane: number;
  readonly rows: readonly Row[];
  /** Upstreams that the guard found degraded, whatever became of the tasks that used them. */
  readonly degraded: NonNullable<VerdictBody["upstreams"]>;
  /** True if the guard was right about every task. */
  readonly right: boolean;
}

/** From acceptance to booking, in ms: long enough to be recalled in. */
const paymentMs = 2_000;
/** The same at the supplier's. */
const supplierMs = 100;
const confirmMs = 20_000;

/**
 * Runs eight subagents (and two that one of them delegates to) as processes of their own over real work, and compares
 * what the guard says of each with what really happened.
 *
 * @throws CandorError `bad-argument` if `migrations` is no folder that can be read; as `connectOrchestrator` and `openRun` do
 * @throws the reason of `signal`
 */
export async function runDemo(options: DemoOptions): Promise<DemoResult> {
  const { migrations = defaultMigrations, signal = new AbortController().signal } = options;
  const files = await listSqlFiles(migrations, signal);
  const watch = new PaymentWatch();
  const inventory = spawnService("inventory", { signal });
  // One of its own for what there is not: an upstream is degraded here although every task that used it got what it wanted.
  const catalogue = spawnService("inventory", { signal });
  const payments = spawnService("payment", {
    args: ["--latency-ms", String(paymentMs)],
    onLine: (value) => {
      watch.see(value);
    },
    signal,
  });
  const supplier = spawnService("payment", { args: ["--latency-ms", String(supplierMs)], signal });
  try {
    const [{ url: inventoryUrl }, { url: catalogueUrl }, { url: paymentsUrl }, { url: supplierUrl }] =
      await Promise.all([inventory, catalogue, payments, supplier]);
    const urls = { inventory: inventoryUrl, catalogue: catalogueUrl };
    const plans = [
      ...reviewPlans(migrations, files),
      lookupPlan("fetcher", urls),
      paymentPlan(paymentsUrl, watch),
      lookupPlan("retry-hider", urls),
      lookupPlan("tail-dropper", urls),
      restockPlan(catalogueUrl, supplierUrl),
      chainPlan(catalogueUrl, placeOf(options)),
    ];
    return await runPlans(plans, options, signal);
  } finally {
    const started = await Promise.allSettled([inventory, catalogue, payments, supplier]);
    await Promise.all(
      started.map(async (one) => {
        if (one.status === "fulfilled") await one.value.stop();
      }),
    );
  }
}

/** Where the identities of the chain lie: only the demo's own are asked for. */
function placeOf({ credentials, certificate }: DemoOptions): ChainPlace {
  const identityOf = (role: string, name: string): DemoIdentity => {
    const found = demoIdentities.find((identity) => identity.role === role && identity.name === name);
    if (found === undefined) throw new CandorError("defect", `The demo has no ${role} ${name}.`);
    return found;
  };
  return {
    credentials: (role, name) => credentials(identityOf(role, name)),
    certificate: (role, name) => certificate(identityOf(role, name)),
  };
}

async function runPlans(plans: readonly Plan[], options: DemoOptions, signal: AbortSignal): Promise<DemoResult> {
  const { certificate, credentials, logger, memoryDir, onProgress = () => undefined, servers } = options;
  const fleet = await connectOrchestrator({
    servers,
    credentials: credentials({ role: "orchestrator", name: "fleet" }),
    memoryDir,
    connectTimeoutMs,
    ...(logger === undefined ? {} : { logger }),
  });
  const proberIdentity = { role: "prober", name: "prober" } as const;
  let prober: Prober | undefined;
  try {
    const connected = await connectProber({ servers, credentials: credentials(proberIdentity), connectTimeoutMs });
    prober = connected;
    const run = await fleet.openRun({
      title: "Candor's demo",
      probers: [readCertificateFile(certificate(proberIdentity))],
    });
    const sayOf =
      ({ agent, task, title }: Plan) =>
      (text: string, row?: Row): void => {
        onProgress({ task, agent, title, text, ...(row === undefined ? {} : { row }) });
      };
    const story = new VerdictStory(run, ({ task, verdict }) => {
      const plan = plans.find((candidate) => candidate.task === task);
      if (plan !== undefined) sayOf(plan)(verdict);
    });
    const pairing = new Pairing(plans);
    const rows = await Promise.all(
      plans.map(async (plan) => {
        const identity = { role: "agent", name: plan.agent } as const;
        const row = await performTask(plan, {
          run,
          story,
          servers,
          credentials: credentials(identity),
          certificate: readCertificateFile(certificate(identity)),
          prober: connected,
          say: sayOf(plan),
          signal,
          pairing,
        });
        sayOf(plan)(row.right ? "the guard was right" : (row.problem ?? "the guard was wrong"), row);
        return row;
      }),
    );
    const right = rows.every((row) => row.right);
    const closing = await run.close({ state: right ? "completed" : "failed" });
    await run.confirm(closing, { timeoutMs: confirmMs });
    await story.end();
    return { run: run.id, lane: run.lane, rows, degraded: story.degraded, right };
  } finally {
    await prober?.close();
    await fleet.close();
  }
}
