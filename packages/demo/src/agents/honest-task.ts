import type { ErrorType } from "@candor/contract";
import { connectSubagent, type SubagentTask, type TaskResult } from "@candor/subagent";
import { ServiceError } from "../services/service-error.js";
import { connectTimeoutMs, type Job, type Told } from "./messages.js";

/**
 * Connects, accepts the delegated task and does it with the SDK. Receipts, manifests and report are the SDK's.
 *
 * @throws CandorError as `connectSubagent`, `accept` and `run` do
 */
export async function doTask(job: Job, run: (task: SubagentTask) => Promise<TaskResult>): Promise<Told> {
  const { credentials, servers, token } = job;
  const agent = await connectSubagent({ servers, credentials, connectTimeoutMs });
  try {
    const task = await agent.accept(token);
    return told(await run(task));
  } finally {
    await agent.close();
  }
}

function told({ claim, report }: TaskResult): Told {
  const { effects, receipts } = report;
  return {
    claim,
    errors: receipts?.errorLog.errors.length ?? 0,
    retries: receipts?.retries.entries.length ?? 0,
    committed: effects.filter(({ phase }) => phase === "committed").length,
  };
}

/** The demo's services say themselves what a failure of theirs is. */
export function classifyServiceError(error: unknown): ErrorType | undefined {
  return error instanceof ServiceError ? error.type : undefined;
}
