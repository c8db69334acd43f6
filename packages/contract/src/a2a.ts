import { CandorError } from "./errors.js";
import type { ReportStatus } from "./upward-report.js";

/** Task states of the A2A protocol, as its JSON of version 0.x writes them. */
export const a2aTaskStates = [
  "submitted",
  "working",
  "completed",
  "failed",
  "canceled",
  "input-required",
  "rejected",
  "auth-required",
] as const;
export type A2aTaskState = (typeof a2aTaskStates)[number];

/** Where a delegated task stands, as seen by whoever asks for it: a phase of its life, or the status of its report. */
export type TaskPhase = "delegated" | "accepted" | "terminated" | "declined" | ReportStatus;

interface A2aRow {
  readonly state: A2aTaskState;
  /** Whether A2A lets the task go on from here. */
  readonly terminal: boolean;
  readonly means: string;
}

/** Both directions in one table (U6): each phase has a state of its own, so that nothing is lost on the way there and back. */
export const a2aTable = {
  delegated: { state: "submitted", terminal: false, means: "delegated, and no process has accepted it yet" },
  accepted: { state: "working", terminal: false, means: "accepted, and no report yet; a recall does not end this" },
  completed: { state: "completed", terminal: true, means: "reported completed, which is a claim: no verdict is in it" },
  failed: { state: "failed", terminal: true, means: "reported failed, or ended without a report" },
  terminated: { state: "canceled", terminal: true, means: "recalled and reconciled, or terminated" },
  blocked: { state: "input-required", terminal: false, means: "reported blocked: somebody has to give it something" },
  declined: { state: "rejected", terminal: true, means: "not taken: the delegation was refused before any work" },
  "denied-by-authority": {
    state: "auth-required",
    terminal: false,
    means: "reported denied-by-authority: a person has to widen what it may do",
  },
} as const satisfies Readonly<Record<TaskPhase, A2aRow>>;

export const taskPhases = Object.keys(a2aTable) as readonly TaskPhase[];

const phases = new Map<string, TaskPhase>(
  taskPhases.flatMap((phase) => {
    const { state } = a2aTable[phase];
    // Version 1.0 writes the names of the protocol buffer enumeration.
    return [
      [state, phase],
      [`TASK_STATE_${state.replace("-", "_").toUpperCase()}`, phase],
    ] as const;
  }),
);

/** The A2A state of a task of ours. */
export function a2aStateOf(phase: TaskPhase): A2aTaskState {
  return a2aTable[phase].state;
}

/**
 * Where a task stands whose agent speaks A2A. A state `completed` is that agent's claim, like a report: verify it.
 *
 * @param state in the form of version 0.x (`input-required`) or 1.0 (`TASK_STATE_INPUT_REQUIRED`)
 * @throws CandorError `unknown-type` for any other text, `unknown` and `TASK_STATE_UNSPECIFIED` included: fail closed
 */
export function phaseOfA2a(state: string): TaskPhase {
  const phase = phases.get(state);
  if (phase !== undefined) return phase;
  throw new CandorError(
    "unknown-type",
    `${JSON.stringify(state.slice(0, 60))} is no A2A task state that is known here; there are ${a2aTaskStates.join(", ")}. Escalate the task.`,
    { path: "state" },
  );
}
