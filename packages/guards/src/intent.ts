import { equalBytes, zeroHash, type AdmittedEvent, type AdmittedOf, type FindingCode } from "@candor/contract";
import { intentTransitions, type Standing, type TaskIntent } from "./intent-transitions.js";
import { hashText } from "./kept.js";

/** The control sequence of one task (or of the run): what the last accepted intent left. */
export interface ControlState {
  control: number;
  /** Hash of the last accepted intent, as `hashText`. */
  hash: string;
  epoch: number;
  standing: Standing | undefined;
}

const zeroText = hashText(zeroHash);

export function initialControl(): ControlState {
  return { control: 0, hash: zeroText, epoch: 0, standing: undefined };
}

export function isTaskIntent(entry: AdmittedEvent): entry is AdmittedEvent & TaskIntent {
  return entry.kind in intentTransitions;
}

/** What is wrong with an intent's number or predecessor; undefined if it is the next one (R2). */
function orderFault(state: ControlState, entry: AdmittedEvent): FindingCode | undefined {
  const { seq, prev } = entry.event;
  if (seq === state.control && hashText(entry.hash) === state.hash) return "intent-repeated";
  if (seq <= state.control) return "intent-stale";
  if (seq > state.control + 1) return "intent-skipped";
  return hashText(prev) === state.hash ? undefined : "intent-contradictory";
}

/**
 * Judges an authentic intent of a task against the sequence so far: undefined if it holds, else why not.
 * @param nowMs log time
 * @param policyHash hash of the policy that the run has pinned
 */
export function intentFault(
  state: ControlState,
  entry: TaskIntent,
  { nowMs, policyHash }: { nowMs: number; policyHash: Uint8Array },
): FindingCode | undefined {
  const order = orderFault(state, entry as AdmittedEvent);
  if (order !== undefined) return order;
  const { payload, event } = entry;
  if (payload.notAfterMs !== undefined && nowMs > payload.notAfterMs) return "intent-expired";
  const transition = intentTransitions[entry.kind];
  if (!transition.from.includes(state.standing)) return "intent-stale";
  const epoch = transition.nextEpoch ? state.epoch + 1 : state.epoch;
  const { standing } = payload;
  if (event.epoch !== epoch || standing.epoch !== epoch || standing.state !== transition.to)
    return "intent-contradictory";
  if (entry.kind === "delegate") {
    const { policyHash: pinned } = entry.payload as AdmittedOf<"delegate">["payload"];
    if (!equalBytes(pinned, policyHash)) return "intent-contradictory";
  }
  return undefined;
}

/** Judges an authentic intent of the run itself. Only `run-open` may begin it, and only once. */
export function runIntentFault(state: ControlState, entry: AdmittedEvent): FindingCode | undefined {
  const order = orderFault(state, entry);
  if (order !== undefined) return order;
  const opens = entry.kind === "run-open";
  if (opens !== (state.control === 0)) return "intent-contradictory";
  return state.standing === "closed" ? "intent-stale" : undefined;
}

/** Advances the sequence past an accepted intent. */
export function foldIntent(state: ControlState, entry: AdmittedEvent): void {
  state.control = entry.event.seq;
  state.hash = hashText(entry.hash);
  state.epoch = entry.event.epoch;
  if (isTaskIntent(entry)) state.standing = intentTransitions[entry.kind].to;
  else state.standing = entry.kind === "run-close" ? "closed" : "delegated";
}
