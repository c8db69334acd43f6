import {
  behaviours,
  stricter,
  type Action,
  type Behaviour,
  type ErrorType,
  type FailurePolicy,
  type Finality,
  type Severity,
} from "@candor/contract";

/** All that is looked at to decide about a failure. What a person or a model wrote about it is not there (F4). */
export interface FailureFacts {
  readonly type: ErrorType;
  /** What the emitter says of its own means; it never states a severity (F5). */
  readonly finality: Finality;
}

export interface FailureDecision {
  readonly severity: Severity;
  readonly behaviour: Behaviour;
  readonly action: Action;
}

/**
 * What a failure means for the plan and what is done about it, by the receiver's policy (F5). Total: a policy has a cell for
 * everything that can be asked.
 *
 * @param resultNeeded whether the plan's next step needs the result of the task
 */
export function decideFailure(
  { type, finality }: FailureFacts,
  resultNeeded: boolean,
  { rows, severities }: FailurePolicy,
): FailureDecision {
  const { severity, action } = rows[type][finality][resultNeeded ? "needed" : "optional"];
  return { severity, behaviour: severities[severity], action };
}

/**
 * What several failures of one task come to: the strictest action of all, with the severity whose behaviour is the
 * strictest, so that nobody gets a milder answer by naming a milder failure first.
 *
 * @returns undefined if there is none
 */
export function decideFailures(
  failures: readonly FailureFacts[],
  resultNeeded: boolean,
  policy: FailurePolicy,
): FailureDecision | undefined {
  return failures
    .map((facts) => decideFailure(facts, resultNeeded, policy))
    .reduce<FailureDecision | undefined>((worst, next) => (worst === undefined ? next : both(worst, next)), undefined);
}

function both(a: FailureDecision, b: FailureDecision): FailureDecision {
  const graver = behaviours.indexOf(a.behaviour) >= behaviours.indexOf(b.behaviour) ? a : b;
  return { ...graver, action: stricter(a.action, b.action) };
}
