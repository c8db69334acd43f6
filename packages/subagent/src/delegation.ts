import {
  CandorError,
  decodeBody,
  decodeDelegationToken,
  decodeFrame,
  equalBytes,
  intentSubject,
  runTask,
  type AdmittedOf,
  type Certificate,
  type Payload,
} from "@candor/contract";
import { checkCertificate, verifySignature } from "@candor/ledger";
import { openIntent } from "./intent-view.js";
import type { LookUp, Stored } from "./ports.js";

/** A delegation token, opened. */
export interface Delegation {
  readonly run: string;
  readonly task: string;
  readonly epoch: number;
  readonly lane: number;
  /** Name of the fleet that delegates. */
  readonly fleet: string;
  /** Operator's word for the fleet's key, where the token carries it. */
  readonly fleetCertificate: Certificate | undefined;
  readonly control: number;
  /** Stream sequence of the intent. */
  readonly sequence: number;
  readonly hash: Uint8Array;
  readonly frame: Uint8Array;
  readonly entry: AdmittedOf<"delegate">;
  readonly payload: Payload<"delegate">;
  readonly dataKey: Uint8Array;
}

/**
 * Opens a delegation token and checks all that it shows by itself. Whose word it is, `verifyDelegation` finds out.
 *
 * @param agent name and deployment key of this identity
 * @throws CandorError `malformed` or another code of a message that is no intent, `no-delegation` if it is for somebody else
 */
export function readDelegation(token: string, agent: { readonly name: string; readonly key: string }): Delegation {
  const { intent: frame, lane, sequence, dataKey, fleet: fleetCertificate } = decodeDelegationToken(token);
  const { actor, run, task } = decodeBody(decodeFrame(frame).body);
  const subject = intentSubject({ lane, run, task, fleet: actor });
  const entry = openIntent({ subject, sequence, data: frame }, undefined);
  if (entry.kind !== "delegate") {
    throw new CandorError("no-delegation", `The token holds a ${entry.kind}; it should come from delegate().`);
  }
  const { payload } = entry;
  if (payload.agent.actor !== agent.name || payload.agent.key !== agent.key) {
    throw new CandorError(
      "no-delegation",
      `The task ${task} is delegated to ${payload.agent.actor} with another key than that of these credentials (${agent.name}). Use the credentials of the agent that it is for.`,
      { details: { delegatedTo: payload.agent.actor, credentials: agent.name } },
    );
  }
  return {
    run,
    task,
    epoch: entry.event.epoch,
    lane,
    fleet: actor,
    fleetCertificate,
    control: entry.event.seq,
    sequence,
    hash: entry.hash,
    frame,
    entry,
    payload,
    dataKey,
  };
}

/**
 * Checks whose word a delegation is: the operator vouches for the fleet in the opening of the run, or in the token where
 * the opening is not the last message of its subject any more, and the fleet signed the delegation.
 *
 * @param operator public key text from `trust.json`
 * @returns the fleet's public key
 * @throws CandorError `no-delegation` if the log knows no such run, `task-over` if the run is closed, `untrusted-key`,
 *   `bad-signature`, `server-unreachable`
 */
export async function verifyDelegation(delegation: Delegation, operator: string, bus: LookUp): Promise<string> {
  const { lane, run, fleet, entry, hash } = delegation;
  const { opener = fleet } = delegation.payload.parent ?? {};
  const subject = intentSubject({ lane, run, task: runTask, fleet: opener });
  const last = await bus.last("log", subject);
  if (last === undefined) {
    throw new CandorError(
      "no-delegation",
      `The log knows no run ${run} of ${opener}: check that this is the server on which the task was delegated.`,
    );
  }
  const certificate =
    delegation.payload.parent === undefined
      ? fleetCertificate(delegation, { ...last, subject }, operator)
      : await subFleetCertificate(delegation, { ...last, subject }, operator, bus);
  if (!verifySignature(certificate.key, hash, entry.signature ?? new Uint8Array())) {
    throw new CandorError(
      "bad-signature",
      `The delegation of task ${delegation.task} is not signed by the fleet ${fleet}. Do not work on it; tell the operator.`,
    );
  }
  return certificate.key;
}

function fleetCertificate(delegation: Delegation, last: Stored & { subject: string }, operator: string): Certificate {
  const { run, fleet } = delegation;
  const entry = openIntent(last, undefined);
  if (entry.kind === "run-close") {
    throw new CandorError("task-over", `The run ${run} is closed, so there is nothing to accept any more.`);
  }
  const certificate = entry.kind === "run-open" ? entry.payload.fleet : delegation.fleetCertificate;
  if (certificate === undefined) {
    throw new CandorError(
      "untrusted-key",
      `The last message about run ${run} is a ${entry.kind}, and the token names no key of ${fleet}: have the task delegated by a newer orchestrator.`,
    );
  }
  checkCertificate(operator, certificate);
  if (certificate.role !== "orch" || certificate.name !== fleet) {
    throw new CandorError("untrusted-key", `The certificate for run ${run} is not one of the orchestrator ${fleet}.`);
  }
  if (entry.kind === "key-revoked" && entry.payload.key === certificate.key) {
    throw new CandorError("untrusted-key", `The key of ${fleet} was revoked: ${entry.payload.reason}.`);
  }
  const signature = entry.signature ?? new Uint8Array();
  if (!verifySignature(certificate.key, entry.hash, signature)) {
    throw new CandorError("bad-signature", `The ${entry.kind} of run ${run} is not signed by ${fleet}.`);
  }
  return certificate;
}

/**
 * Of a sub-fleet the token carries the operator's word, and the delegation of the task that this one is a part of names it.
 *
 * @throws CandorError `task-over` if the run is closed, or that task is in other hands by now
 */
async function subFleetCertificate(
  { run, task, lane, fleet, payload, fleetCertificate: certificate }: Delegation,
  last: Stored & { subject: string },
  operator: string,
  bus: LookUp,
): Promise<Certificate> {
  if (openIntent(last, undefined).kind === "run-close") {
    throw new CandorError("task-over", `The run ${run} is closed, so there is nothing to accept any more.`);
  }
  const { parent } = payload;
  if (certificate === undefined || parent === undefined) {
    throw new CandorError("untrusted-key", `The token of task ${task} names no key of the sub-fleet ${fleet}.`);
  }
  checkCertificate(operator, certificate);
  if (certificate.role !== "orch" || certificate.name !== fleet) {
    throw new CandorError("untrusted-key", `The certificate for task ${task} is not one of the orchestrator ${fleet}.`);
  }
  const subject = intentSubject({ lane, run, task: parent.task, fleet: parent.fleet });
  const above = await bus.last("log", subject);
  const entry = above && openIntent({ ...above, subject }, undefined);
  if (entry?.kind !== "delegate" || entry.event.epoch !== parent.epoch) {
    throw new CandorError(
      "task-over",
      `Task ${task} is a part of task ${parent.task}, which is stopped or in other hands by now.`,
    );
  }
  if (entry.payload.subFleet?.name !== fleet || entry.payload.subFleet.key !== certificate.key) {
    throw new CandorError("untrusted-key", `The delegation of task ${parent.task} names no sub-fleet ${fleet}.`);
  }
  return certificate;
}

/** True if the stored message is the intent of the token. @throws CandorError `log-altered` if it is another one. */
export function requireStored(delegation: Delegation, stored: Stored | undefined): boolean {
  if (stored?.sequence !== delegation.sequence) return false;
  if (equalBytes(stored.data, delegation.frame)) return true;
  throw new CandorError(
    "log-altered",
    `At sequence ${delegation.sequence} the log holds another message than the delegation that was handed over. Tell the operator.`,
  );
}
