import { encodeDelegationToken, type Payload } from "@candor/contract";
import { requireRole, sealBrief, type DelegateOptions, type Delegation } from "./delegation.js";
import { mintIntents } from "./minted-intents.js";
import { requireCertificate, requireText } from "./required.js";
import { asIntent, deadline, type RunContext } from "./run-context.js";
import type { Standing } from "./task-line.js";

export interface DelegateRequest {
  readonly task: string;
  readonly options: Omit<DelegateOptions, "task">;
  /** The epoch that is delegated, and who had the one before. */
  readonly next: (
    standing: Standing | undefined,
  ) => Pick<Payload<"delegate">, "predecessor"> & { readonly epoch: number };
  /** Whether the task was delegated before. */
  readonly isKnown: boolean;
}

/**
 * Mints the intent keys, seals the brief and writes the delegation.
 *
 * @throws CandorError as `Run.delegate` and `Run.redelegate` say
 */
export async function delegateTask(
  { id, writer, operator, policyHash, lane, fleet, parent }: RunContext,
  dataKey: Uint8Array,
  { task, options, next, isKnown }: DelegateRequest,
): Promise<Delegation> {
  requireText(task, "options.task");
  const { agent, brief = {}, subFleet, notAfterMs } = options;
  requireCertificate(agent, "options.agent");
  requireRole(agent, "agent", operator);
  if (subFleet !== undefined) {
    requireCertificate(subFleet, "options.subFleet");
    requireRole(subFleet, "orch", operator);
  }
  const intents = mintIntents(options.intents ?? [], { run: id, task, dataKey });
  const sealed = sealBrief(brief, dataKey);
  const issued = await writer.issue(
    task,
    "delegate",
    (standing) => {
      const { epoch, predecessor } = next(standing);
      const payload = {
        standing: { epoch, state: "delegated" as const },
        ...deadline(notAfterMs),
        agent: { actor: agent.name, key: agent.key },
        brief: sealed,
        intents,
        policyHash,
        ...(predecessor === undefined ? {} : { predecessor }),
        ...(subFleet === undefined ? {} : { subFleet }),
        ...(parent === undefined ? {} : { parent }),
      };
      return { epoch, payload };
    },
    isKnown,
  );
  return {
    ...asIntent(issued),
    token: encodeDelegationToken({ intent: issued.frame, lane, sequence: issued.sequence, dataKey, fleet }),
    intentKeys: Object.fromEntries(intents.map(({ intent, key }) => [intent, key])),
  };
}
