import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { startGuard, type Guard } from "@candor/guard";
import {
  connectOrchestrator,
  type BriefOptions,
  type Decision,
  type Delegation,
  type Fleet,
  type Run,
} from "@candor/orchestrator";
import { connectSubagent, type Subagent, type SubagentOptions } from "@candor/subagent";
import { startWorld, type World, type WorldOptions } from "./world.js";

/** A server, a guard in this process, and an orchestrator with an open run. */
export interface SubagentStage {
  readonly world: World;
  readonly run: Run;
  /** Delegates a new task with the intent `charge` to the agent `payer`. */
  readonly delegate: (brief?: BriefOptions) => Promise<Delegation>;
  readonly redelegate: (task: string) => Promise<Delegation>;
  /** Connects the agent `payer`; closed with the stage. */
  readonly agent: (options?: Partial<SubagentOptions>) => Promise<Subagent>;
  /** A new folder for spools. */
  readonly spoolDir: () => string;
  readonly decide: (task: string) => Promise<Summary>;
  readonly close: () => Promise<void>;
}

export type Summary = Readonly<Record<string, string>> & { readonly findings?: readonly string[] };

function summaryOf(decision: Decision): Summary {
  const verdicts = Object.fromEntries(decision.verdicts.map(({ judge, verdict }) => [judge, verdict]));
  const findings = decision.verdicts.flatMap((body) => body.findings.map(({ code }) => code));
  const end = decision.kind === "decided" ? { action: decision.action } : { undecided: decision.why };
  return Object.assign(verdicts, end, { findings });
}

const charge = { name: "charge", target: "payments" };

export async function startSubagentStage(options: WorldOptions = {}): Promise<SubagentStage> {
  const world = await startWorld({ lanes: 4, ...options });
  const agents: Subagent[] = [];
  let guard: Guard | undefined;
  let fleet: Fleet | undefined;
  const close = async (): Promise<void> => {
    // A task that a test gave up with events still to send says so; that is the test's affair.
    await Promise.allSettled(agents.map((agent) => agent.close()));
    await fleet?.close();
    await guard?.stop();
    await world.close();
  };
  try {
    const { name, signer } = world.credentials("guard", "g1");
    guard = await startGuard({
      connection: await world.connect("guard", "g1"),
      identity: { name, signer, certificate: world.certificate("guard", "g1"), operator: world.operatorKey },
      settings: { checkpointQuietMs: 100 },
    });
    fleet = await connectOrchestrator({ servers: world.urls, credentials: world.folder("orchestrator", "fleet") });
    const run = await fleet.openRun();
    const payer = world.certificate("agent", "payer");
    let tasks = 0;
    const spoolDir = (): string => mkdtempSync(join(world.dir, "spool-"));
    return {
      world,
      run,
      delegate: (brief = {}) => {
        tasks += 1;
        return run.delegate({ task: `task-${tasks}`, agent: payer, brief, intents: [charge] });
      },
      redelegate: (task) => run.redelegate(task, { agent: payer, intents: [charge] }),
      agent: async (more = {}) => {
        const agent = await connectSubagent({
          servers: world.urls,
          credentials: world.folder("agent", "payer"),
          spoolDir: spoolDir(),
          ...more,
        });
        agents.push(agent);
        return agent;
      },
      spoolDir,
      decide: async (task) => summaryOf(await run.decision(task, { timeoutMs: 20_000 })),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
