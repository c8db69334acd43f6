import { CandorError, errorTypes, finalities, hopDeeds } from "@candor/contract";
import { readCertificateFile } from "@candor/ledger/files";
import { connectOrchestrator, failureOf } from "@candor/orchestrator";
import type { TaskContext } from "@candor/subagent";
import { z } from "zod";
import { runAgentProcess } from "../run/agent-process.js";
import { doTask } from "./honest-task.js";
import { agentNames, connectTimeoutMs, type Agent, type Job, type Say } from "./messages.js";

/** What an agent is to do that has its work done by another one. */
export const delegatedWorkSchema = z.object({
  /** Credentials folder of the fleet as which it delegates. */
  fleet: z.string(),
  part: z.object({
    task: z.string(),
    title: z.string(),
    agent: z.enum(agentNames),
    /** Credentials folder and certificate file of that agent. */
    credentials: z.string(),
    certificate: z.string(),
    /** Certificate file of the fleet as which that agent may delegate in turn. */
    subFleet: z.string().optional(),
    keyTasks: z.array(z.string()),
    work: z.unknown(),
  }),
  /** What it does with the part's failure. */
  deed: z.object({
    did: z.enum(hopDeeds),
    type: z.enum(errorTypes).optional(),
    finality: z.enum(finalities).optional(),
  }),
});
export type DelegatedWork = Readonly<z.infer<typeof delegatedWorkSchema>>;

/** Longest time that a part may take, in ms, and the guard after it. */
const partMs = 60_000;

/** Has its work done by another agent, in a process of its own, and passes up what becomes of it. */
export const delegateOn: Agent = async (job, say) => {
  const work = delegatedWorkSchema.parse(job.work);
  return await doTask(job, (task) => task.run((ctx) => delegatePart(job, work, ctx, say)));
};

async function delegatePart(
  job: Job,
  { fleet, part, deed }: DelegatedWork,
  ctx: TaskContext,
  say: Say,
): Promise<unknown> {
  const { servers, token } = job;
  const orchestrator = await connectOrchestrator({ servers, credentials: fleet, connectTimeoutMs });
  try {
    const run = await orchestrator.join(token);
    const delegation = await run.delegate({
      task: part.task,
      agent: readCertificateFile(part.certificate),
      brief: { title: part.title, keyTasks: part.keyTasks },
      ...(part.subFleet === undefined ? {} : { subFleet: readCertificateFile(part.subFleet) }),
    });
    say(`delegated ${part.task} to the ${part.agent}`);
    const partJob = { servers, credentials: part.credentials, token: delegation.token, work: part.work };
    await runAgentProcess(part.agent, partJob, { say, limitMs: partMs, signal: ctx.signal });
    const decision = await run.decision(part.task, { timeoutMs: partMs });
    if (decision.kind === "undecided") throw new CandorError("undecided", decision.sentence);
    const failure = failureOf(decision.verdicts);
    await run.closeTask(part.task, { state: failure === undefined ? "accepted" : "rejected" });
    if (failure === undefined) return { claim: "pass" };
    say(`the ${part.agent} failed (${failure.type}, ${failure.finality}): ${deed.did}`);
    const { did, type, finality } = deed;
    throw await ctx.passUp(failure, {
      did,
      ...(type === undefined ? {} : { type }),
      ...(finality === undefined ? {} : { finality }),
    });
  } finally {
    await orchestrator.close();
  }
}
