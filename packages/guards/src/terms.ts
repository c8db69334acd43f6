import type { AdmittedOf, FindingCode } from "@candor/contract";
import { nextAuthority } from "./authority.js";
import { allowedRedispatches, isAcceptable } from "./dispatch-judge.js";
import { foldApproval, initialDispatch, isFounded, type DispatchState } from "./dispatch-state.js";
import type { TaskIntent } from "./intent-transitions.js";
import { hashText, keepTerms, type KeptTerms } from "./kept.js";
import type { EpochState } from "./state.js";

/**
 * What is wrong with an intent that is in order, by the terms of the epoch that it is about; undefined if nothing is (U3, U4).
 * @param fleet of the run: an agent that delegates as a sub-fleet can't give a person's leave
 */
export function termsFault(fleet: string, epoch: EpochState | undefined, entry: TaskIntent): FindingCode | undefined {
  const held = heldBy(epoch);
  if (entry.kind === "delegate") return delegateFault(held, entry as AdmittedOf<"delegate">);
  if (entry.kind === "approve" && (entry as AdmittedOf<"approve">).event.actor !== fleet) return "intent-foreign";
  if (entry.kind === "approve")
    return held !== undefined && isFounded(held.state, entry as AdmittedOf<"approve">)
      ? undefined
      : "approval-unfounded";
  if (entry.kind !== "close" || held === undefined) return undefined;
  const { state } = (entry as AdmittedOf<"close">).payload;
  return state === "accepted" && !isAcceptable(held.state, held.terms) ? "accepted-unverified" : undefined;
}

/** Takes note of an approval that holds. */
export function holdApproval({ dispatch }: EpochState, entry: AdmittedOf<"approve">): void {
  if (dispatch !== undefined) foldApproval(dispatch, entry);
}

/** State of a new epoch: a delegation that carries on with approved actions is no retry. */
export function nextDispatch(
  before: EpochState | undefined,
  { payload }: AdmittedOf<"delegate">,
): DispatchState | undefined {
  if (payload.brief.terms === undefined) return undefined;
  const isRetry = before !== undefined && !carriesOn(payload);
  return initialDispatch((before?.dispatch?.used ?? 0) + (isRetry ? 1 : 0));
}

interface Held {
  readonly state: DispatchState;
  readonly terms: KeptTerms;
}

function heldBy(epoch: EpochState | undefined): Held | undefined {
  const terms = epoch?.brief.terms;
  return epoch?.dispatch === undefined || terms === undefined ? undefined : { state: epoch.dispatch, terms };
}

function delegateFault(held: Held | undefined, { payload }: AdmittedOf<"delegate">): FindingCode | undefined {
  const planned = payload.intents.flatMap(({ planned: action }) => (action === undefined ? [] : [action]));
  if (planned.some(({ digest }) => held?.state.answers.get(hashText(digest)) !== true)) return "action-unapproved";
  if (held === undefined) return undefined;
  const { state, terms } = held;
  const next = keepTerms(payload.brief);
  const allowed = allowedRedispatches(state, terms);
  if (next === undefined || next.redispatches > allowed || checksOf(next) !== checksOf(terms)) return "terms-widened";
  const approval = { person: "", authority: state.authority };
  if (!nextAuthority(terms.authority, next.authority, approval).ok) return "authority-widened";
  return state.used >= allowed && !carriesOn(payload) ? "redispatch-over-budget" : undefined;
}

/** What the terms say of checks, as one text: none of it changes within a task. */
function checksOf({ verifier, ablation, newMechanism }: KeptTerms): string {
  return JSON.stringify([verifier?.kind, verifier?.digest, ablation, newMechanism]);
}

function carriesOn({ intents }: AdmittedOf<"delegate">["payload"]): boolean {
  return intents.some(({ planned }) => planned !== undefined);
}
