import { CandorError, decodeBody, decodeFrame, storedSubject, type Mode, type Scope } from "@candor/contract";
import { certifyTaskKey, type Signer } from "@candor/ledger";
import type { Delegation } from "./delegation.js";
import type { LookUp, Stored } from "./ports.js";
import type { Recorder } from "./recorder.js";

export interface AcceptFacts {
  readonly delegation: Delegation;
  readonly actor: string;
  /** Signer of the deployment identity. */
  readonly deployment: Signer;
  /** Public text of the ephemeral task key. */
  readonly taskKey: string;
  readonly scope: Scope;
  readonly mode: Mode;
}

/** Subject under which this agent's acceptances of the task are stored. */
function acceptSubject({ lane, run, task }: Delegation, actor: string): string {
  return storedSubject({ lane, role: "agent", actor, run, task, kind: "accept" });
}

function epochOf(stored: Stored): number {
  return decodeBody(decodeFrame(stored.data).body).epoch;
}

/**
 * Refuses a task that this agent accepted before without this spool (R11): an event of that chain may still be under
 * way, so nobody else can continue it.
 *
 * @returns the last acceptance of an earlier epoch, which the compare-and-set expects
 * @throws CandorError `spool-lost`, `fenced`
 */
async function requireUnaccepted(bus: LookUp, delegation: Delegation, actor: string): Promise<number> {
  const last = await bus.last("log", acceptSubject(delegation, actor));
  if (last === undefined) return 0;
  const epoch = epochOf(last);
  const { task } = delegation;
  if (epoch < delegation.epoch) return last.sequence;
  if (epoch > delegation.epoch) {
    throw new CandorError("fenced", `Task ${task} was delegated anew as epoch ${epoch}: this token is of an old one.`);
  }
  throw new CandorError(
    "spool-lost",
    `Epoch ${epoch} of task ${task} was accepted before, and its spool is not here: another process works on it, or the spool is lost. Ask the orchestrator to delegate the task again.`,
    { details: { epoch, sequence: last.sequence } },
  );
}

/**
 * Stores the acceptance: binds the ephemeral key to this epoch and states what the runtime can see (D11). Of several
 * processes that try, the server lets one win.
 *
 * @throws CandorError `already-accepted` for the others, `publish-unconfirmed`
 */
export async function storeAccept(recorder: Recorder, bus: LookUp, facts: AcceptFacts, drainMs: number): Promise<void> {
  const { delegation, actor, deployment, taskKey, scope, mode } = facts;
  const { run, task, epoch, hash } = delegation;
  const sequence = await requireUnaccepted(bus, delegation, actor);
  const certificate = certifyTaskKey(deployment, { run, task, epoch, actor, taskKey });
  const payload = { taskKey, certificate, delegation: hash, scope, mode };
  const subject = acceptSubject(delegation, actor);
  const recorded = await recorder.recordBehind("accept", payload, () => ({ subject, sequence }), drainMs);
  if (recorded === undefined) throw alreadyAccepted(delegation);
}

export function alreadyAccepted({ task, epoch }: Delegation): CandorError {
  return new CandorError(
    "already-accepted",
    `Another process of this agent accepted epoch ${epoch} of task ${task} first. Leave it the task, or ask the orchestrator to delegate it again.`,
    { details: { epoch } },
  );
}
