import type { Claim, FinishReason, Payload, Report } from "@candor/contract";
import type { Failure } from "./failure.js";

/** The brief, its prose opened. */
export interface TaskBrief extends Omit<Payload<"delegate">["brief"], "title" | "instructions"> {
  readonly title?: string;
  readonly instructions?: string;
}

/** A planned action that a person approved, as text of an agent: to be read, never obeyed. */
export interface ApprovedAction {
  /** Name of the effect that it may be done as. */
  readonly intent: string;
  readonly action: string;
}

export interface TaskId {
  readonly run: string;
  readonly task: string;
  readonly epoch: number;
}

export interface TaskResult {
  readonly claim: Claim;
  readonly finishReason: FinishReason;
  readonly report: Report;
  /** Number and hash of the report in the task's chain. */
  readonly seq: number;
  readonly hash: Uint8Array;
  /** False if the log has not confirmed it yet: it lies in the spool, and accepting the task again sends it. */
  readonly stored: boolean;
  /** What the callback threw, and its type. */
  readonly error?: unknown;
  readonly failure?: Failure;
}
