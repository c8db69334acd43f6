import { CandorError, isId, type ErrorCode } from "@candor/contract";
import type { TaskView } from "@candor/guards";
import type { LaneMetrics } from "./lane-metrics.js";

export type LaneState = "checking" | "replaying" | "live" | "halted" | "stopped";

/** A lane as the state API shows it. */
export interface LaneView {
  readonly lane: number;
  readonly guard: string;
  readonly state: LaneState;
  /** Log sequence and log time in ms of the last entry that was folded; 0 before the first. */
  readonly position: number;
  readonly timeMs: number;
  /** Messages of the lane so far, and the Merkle root over them in hex. */
  readonly size: number;
  readonly root: string;
  /** Messages of the lane that are stored and not folded yet. */
  readonly lag: number;
  /** Verdicts and quarantine records decided on and not yet known to be stored. */
  readonly underWay: number;
  readonly openTasks: number;
  readonly timers: number;
  /** Why the lane can't be read at present; it is tried again. */
  readonly trouble?: { readonly code: ErrorCode; readonly message: string };
  readonly halted?: { readonly code: ErrorCode; readonly message: string };
  /** Verdict subjects on which another guard stored something else. */
  readonly diverged: readonly string[];
  readonly metrics: LaneMetrics;
  /** Open tasks of the run that was asked for; absent if it is closed or unknown. */
  readonly tasks?: readonly string[];
  /** The task that was asked for; absent if it is closed or unknown. */
  readonly task?: TaskView;
}

/** What a request to the state API asks for. */
export interface StateQuery {
  readonly run?: string;
  readonly task?: string;
}

/**
 * Reads a request of the state API: nothing, or JSON `{ "run"?, "task"? }`.
 * @throws CandorError `bad-argument`
 */
export function readQuery(text: string): StateQuery {
  const { run, task } = parse(text);
  if (run === undefined && task !== undefined) throw refuse("task", "comes only together with a run");
  return { ...checked("run", run), ...checked("task", task) };
}

function parse(text: string): Readonly<Record<string, unknown>> {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return value as Readonly<Record<string, unknown>>;
  } catch {
    // Said below, like any other text that is no query.
  }
  throw refuse("request", 'must be empty, or JSON like {"run":"r1","task":"t1"}');
}

function checked(name: keyof StateQuery, value: unknown): StateQuery {
  if (value === undefined) return {};
  if (typeof value === "string" && isId(value)) return { [name]: value };
  throw refuse(name, "must be an id");
}

function refuse(path: string, why: string): CandorError {
  return new CandorError("bad-argument", `${path} ${why}.`, { path });
}
