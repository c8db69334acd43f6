import {
  CandorError,
  finalities,
  errorTypes,
  hopDeeds,
  type ErrorType,
  type Finality,
  type HopDeed,
  type PropagatedFailure,
  type Stated,
} from "@candor/contract";
import { requireLabel } from "./label.js";
import type { TaskDesk } from "./task-desk.js";

/** A failure as a guard handed it to whoever delegated the task (`failureOf` of the orchestrator's SDK). */
export type ChildFailure = Pick<PropagatedFailure, "task" | "epoch" | "hash" | "origin" | "type" | "finality">;

export interface PassUpOptions {
  /**
   * What this layer did: `passed` it as it is (the default), `translated` it into its own terms, `downgraded` it, since it
   * matters less here, or `recovered` from it.
   */
  readonly did?: HopDeed;
  /** What this layer says of it; what the child said by default. Left out with `passed`. */
  readonly type?: ErrorType;
  readonly finality?: Finality;
  /** What this task wanted of the child; `delegate` by default. */
  readonly operation?: string;
  /** Key task that it concerns. */
  readonly covers?: string;
}

/**
 * Records a child's failure as an error of this task, with a signed hop appended (F8): what was seen, what was done, and
 * the event that said so.
 *
 * @returns an error to throw, where the task fails by it
 * @throws CandorError `bad-argument` for a hop that contradicts itself, `task-over`
 */
export async function passUp(desk: TaskDesk, child: ChildFailure, options: PassUpOptions): Promise<CandorError> {
  const { did = "passed", operation = "delegate", covers } = options;
  const saw: Stated = { type: child.type, finality: child.finality };
  const says: Stated = { type: options.type ?? saw.type, finality: options.finality ?? saw.finality };
  checkHop(did, saw, says);
  requireLabel(operation, "operation");
  if (covers !== undefined) requireLabel(covers, "covers");
  desk.requireUnreported();
  const recovered = did === "recovered";
  const { task, epoch } = child;
  const error = new CandorError(
    "child-failed",
    `Task ${task}, which this one delegated, failed: ${saw.type}, ${saw.finality}${did === "passed" ? "" : `; ${did} to ${says.type}, ${says.finality}`}.`,
    { details: { task, epoch, ...says } },
  );
  await desk.faults.error(error, {
    ...says,
    operation,
    covers,
    recovered,
    attempt: 1,
    priors: [],
    hop: { task, epoch, previous: child.hash, origin: child.origin.hash, saw, did },
    description: error.message,
  });
  if (covers !== undefined && !recovered) desk.coverage.observe(covers, "failed");
  return error;
}

function checkHop(did: HopDeed, saw: Stated, says: Stated): void {
  const known = hopDeeds.includes(did) && errorTypes.includes(says.type) && finalities.includes(says.finality);
  if (!known) {
    throw new CandorError("bad-argument", `A hop ${hopDeeds.join(", ")} a failure of a known type and finality.`, {
      path: "did",
    });
  }
  const isSame = saw.type === says.type && saw.finality === says.finality;
  if (did === "passed" && !isSame) {
    throw new CandorError(
      "bad-argument",
      "What is passed is passed as it is: say that it is translated or downgraded.",
      {
        path: "did",
      },
    );
  }
}
