import { CandorError, isCandorError } from "@candor/contract";
import { decidingVerdict, failureOf, type Decided, type Run } from "@candor/orchestrator";
import { readCertificateFile } from "@candor/ledger/files";
import type { Told } from "../agents/messages.js";
import { ServiceError } from "../services/service-error.js";
import { runAgentProcess } from "./agent-process.js";
import type { Plan } from "./plan.js";
import type { Pairing } from "./pairing.js";
import { chainOf, rowOf, type Judged, type Row } from "./row.js";
import type { TaskRunContext } from "./task-run-context.js";
import type { VerdictStory } from "./verdict-story.js";

/** How long the guard may take after the agent has ended, in ms. */
const decisionMs = 60_000;
const confirmMs = 20_000;

interface PairedContext extends TaskRunContext {
  readonly pairing: Pairing;
}

/** Does one task from delegation to decision, and says whether the guard was right. */
export async function performTask(plan: Plan, context: PairedContext): Promise<Row> {
  const { run, say, signal, story } = context;
  try {
    const told = await (plan.follow?.(context) ?? work(plan, context));
    say("waits for the guard's last word");
    const first = await decide(run, plan.task);
    await context.pairing.judged(plan);
    // What another result says of this one is known by now.
    const decided = plan.compared === undefined ? first : await decide(run, plan.task);
    await context.pairing.decided(plan);
    const judged = await judgedBy(plan, decided, story);
    const truth = await plan.truth(told);
    // Who follows a task to its end has closed it.
    if (plan.follow === undefined) await settle(run, plan.task, judged);
    return rowOf(plan, { truth, judged });
  } catch (error) {
    context.pairing.gaveUp(plan);
    signal.throwIfAborted();
    if (error instanceof ServiceError) return rowOf(plan, { problem: error.message });
    if (!isCandorError(error)) throw error;
    return rowOf(plan, { problem: `${error.code}: ${error.message}` });
  }
}

/** Delegates, starts the agent, and does what the orchestrator has to do meanwhile. */
async function work(plan: Plan, context: TaskRunContext): Promise<Told> {
  const { agent, brief, intents = [], limitMs, meanwhile, task } = plan;
  const { certificate, credentials, run, say, servers, signal } = context;
  const { token } = await run.delegate({
    task,
    agent: certificate,
    brief,
    intents,
    ...(plan.subFleet === undefined ? {} : { subFleet: readCertificateFile(plan.subFleet) }),
  });
  say("delegated");
  const job = { servers: [...servers], credentials, token, work: plan.work };
  const over = new AbortController();
  const [told] = await Promise.all([
    runAgentProcess(agent, job, { say, limitMs, signal }).finally(() => {
      over.abort();
    }),
    meanwhile?.(run, say, over.signal),
  ]);
  return told;
}

async function decide(run: Run, task: string): Promise<Decided> {
  const decision = await run.decision(task, { timeoutMs: decisionMs });
  if (decision.kind === "decided") return decision;
  throw new CandorError("undecided", `No decision on ${task} (${decision.why}): ${decision.sentence}`);
}

async function judgedBy({ judge }: Plan, { action, verdicts }: Decided, story: VerdictStory): Promise<Judged> {
  const deciding = decidingVerdict(judge === undefined ? verdicts : verdicts.filter((one) => one.judge === judge));
  if (deciding === undefined)
    throw new CandorError("defect", "There is a decision, and no verdict that it comes from.");
  const failure = failureOf(verdicts);
  return {
    verdict: deciding.verdict,
    action,
    findings: [...new Set(verdicts.flatMap(({ findings }) => findings.map(({ code }) => code)))],
    story: await story.upTo(deciding),
    ...(failure === undefined ? {} : { chain: chainOf(failure) }),
  };
}

/** Acts on the decision: what may proceed is accepted, everything else is not. */
async function settle(run: Run, task: string, { action }: Judged): Promise<void> {
  const intent = await run.closeTask(task, { state: action === "proceed" ? "accepted" : "rejected" });
  await run.confirm(intent, { timeoutMs: confirmMs });
}
