import { setTimeout as pause } from "node:timers/promises";
import type { Bus } from "@candor/bus";
import { CandorError, isCandorError, stateSubject } from "@candor/contract";
import type { GuardProcess } from "./guard-process.js";

/** A lane as the guard that runs it describes it; what is not used here is left out. */
export interface LaneState {
  readonly lane: number;
  readonly guard: string;
  /** `checking`, `replaying`, `live`, `halted` or `stopped`. */
  readonly state: string;
  readonly position: number;
  readonly lag: number;
  readonly openTasks: number;
  /** Why the lane can't be read at present. */
  readonly trouble?: { readonly code: string; readonly message: string };
  readonly halted?: { readonly code: string; readonly message: string };
}

/** Asks whoever runs a lane how it stands; undefined if nobody answers within `timeoutMs`. */
export async function askLane({ nc }: Bus, lane: number, timeoutMs = 500): Promise<LaneState | undefined> {
  try {
    const answer = await nc.request(stateSubject(lane), "", { timeout: timeoutMs });
    return answer.json<LaneState>();
  } catch {
    return undefined;
  }
}

/** All lanes at once, those that nobody runs left out. */
export async function askLanes(bus: Bus, lanes: number, timeoutMs?: number): Promise<readonly LaneState[]> {
  const asked = Array.from({ length: lanes }, (_, lane) => askLane(bus, lane, timeoutMs));
  return (await Promise.all(asked)).filter((state) => state !== undefined);
}

export interface UntilGuardedOptions {
  /** How long the guards may make no headway; 30,000 by default. */
  readonly patienceMs?: number;
  readonly onStep?: (text: string) => void;
}

/**
 * Waits until the guards read every lane, for as long as they make headway with what is stored.
 *
 * @returns the lanes that halted, because their log is not the one that was judged
 * @throws CandorError what a guard said when it ended, or `undecided` after `patienceMs` without headway
 */
export async function untilGuarded(
  bus: Bus,
  lanes: number,
  guards: readonly GuardProcess[],
  { patienceMs = 30_000, onStep = () => undefined }: UntilGuardedOptions = {},
): Promise<readonly LaneState[]> {
  const ended = Promise.race(guards.map((guard) => guard.ended));
  let headway = -1;
  let stuck: readonly LaneState[] = [];
  let deadline = performance.now() + patienceMs;
  while (performance.now() < deadline) {
    const found = await Promise.race([askLanes(bus, lanes), ended]);
    if (isCandorError(found)) throw found;
    const settled = found.filter(({ state }) => state === "live" || state === "halted");
    if (settled.length === lanes) return found.filter(({ state }) => state === "halted");
    const position = found.reduce((sum, lane) => sum + lane.position, settled.length);
    if (position > headway) {
      headway = position;
      deadline = performance.now() + patienceMs;
    }
    stuck = found.filter((lane) => !settled.includes(lane));
    const behind = found.reduce((sum, { lag }) => sum + lag, 0);
    if (behind > 0) onStep(`the guard reads the log, ${behind} messages to go`);
    await Promise.race([pause(50), ended]);
  }
  const where = stuck.map(({ lane, position, lag, trouble }) =>
    trouble === undefined
      ? `lane ${lane} stands at sequence ${position} with ${lag} to go`
      : `lane ${lane} can't be read: ${trouble.message}`,
  );
  throw new CandorError(
    "undecided",
    `The guard makes no headway: ${where.length === 0 ? "nobody answers for some lanes" : where.join("; ")}. The store may be damaged: "candor audit --all" finds out. Its log is ${guards[0]?.logFile ?? "elsewhere"}.`,
    { details: { lanes: stuck.map(({ lane }) => lane) } },
  );
}
