import { hex, type StoredMessage } from "@candor/contract";
import { admit } from "@candor/ledger";
import type { Attempt } from "./hasty-agent.js";
import type { HonestWork } from "./honest-agent.js";

/** How near to a recall an attempt counts as a race with it. */
const nearMs = 10;

/** What was tried around one recall. */
export interface FenceRound {
  readonly hastyTask: string;
  readonly attempts: readonly Attempt[];
  readonly honestTask: string;
  readonly honest: HonestWork;
}

export interface FenceFigures {
  readonly attempted: number;
  /** Dispatches in the log before the recall of their task. */
  readonly storedBefore: number;
  readonly refused: number;
  /** Dispatches in the log behind the recall of their task. */
  readonly storedAfter: number;
  /** Attempts whose publisher did not learn what became of them. */
  readonly unsure: number;
  /** Attempts of which the publisher says something else than the log. */
  readonly misreported: number;
  /** Of the refused ones, those that the server refused, as far as the publisher had it say so itself. */
  readonly refusedByServer: number;
  /** Effects that ran without a dispatch in the log before the recall. */
  readonly ranUnstored: number;
  /** Fewest attempts in the 10 ms before a recall was stored, or in the 10 ms behind it, over all rounds. */
  readonly attemptsNear: number;
}

/** What the log has of one task. */
interface TaskLog {
  recallSeq: number;
  recallMs: number;
  readonly dispatches: Map<string, { readonly seq: number; readonly key: string }>;
}

function readTasks(log: readonly StoredMessage[]): Map<string, TaskLog> {
  const tasks = new Map<string, TaskLog>();
  for (const message of log) {
    const entry = admit(message);
    if (entry.type !== "event") continue;
    const { task } = entry.event;
    const found = tasks.get(task) ?? { recallSeq: 0, recallMs: 0, dispatches: new Map() };
    tasks.set(task, found);
    if (entry.kind === "recall") {
      found.recallSeq = message.seq;
      found.recallMs = message.timeMs;
    } else if (entry.kind === "effect" && entry.payload.phase === "dispatched") {
      // A copy of the same bytes, from a retry without an answer, counts where it counts for more: behind the recall.
      found.dispatches.set(hex(message.data), { seq: message.seq, key: entry.payload.key });
    }
  }
  return tasks;
}

/** The smaller of the two sides' numbers of attempts near an instant. */
export function attemptsNear(attempts: readonly Pick<Attempt, "atMs">[], instantMs: number): number {
  const distances = attempts.map(({ atMs }) => atMs - instantMs);
  const before = distances.filter((ms) => ms < 0 && ms >= -nearMs).length;
  const after = distances.filter((ms) => ms >= 0 && ms <= nearMs).length;
  return Math.min(before, after);
}

/** Compares what agents tried with what the log holds, by sequence. */
export function fenceFigures(rounds: readonly FenceRound[], log: readonly StoredMessage[]): FenceFigures {
  const tasks = readTasks(log);
  const none: TaskLog = { recallSeq: 0, recallMs: 0, dispatches: new Map() };
  const sum = { attempted: 0, storedBefore: 0, storedAfter: 0, unsure: 0, misreported: 0, refusedByServer: 0 };
  let ranUnstored = 0;
  let near = Number.POSITIVE_INFINITY;
  for (const { hastyTask, attempts, honestTask, honest } of rounds) {
    const hasty = tasks.get(hastyTask) ?? none;
    const sdk = tasks.get(honestTask) ?? none;
    near = Math.min(near, attemptsNear(attempts, hasty.recallMs));
    sum.attempted += attempts.length + honest.attempted;
    for (const { recallSeq, dispatches } of [hasty, sdk]) {
      const after = [...dispatches.values()].filter(({ seq }) => seq > recallSeq).length;
      sum.storedAfter += after;
      sum.storedBefore += dispatches.size - after;
    }
    for (const { data, outcome } of attempts) {
      const isStored = hasty.dispatches.has(hex(data));
      if (outcome === "unsure") sum.unsure += 1;
      else if (isStored !== (outcome === "stored")) sum.misreported += 1;
      if (outcome === "refused") sum.refusedByServer += 1;
    }
    const stored = new Set([...sdk.dispatches.values()].filter(({ seq }) => seq < sdk.recallSeq).map(({ key }) => key));
    ranUnstored += [...honest.ran].filter((key) => !stored.has(key)).length;
  }
  const refused = sum.attempted - sum.storedBefore - sum.storedAfter;
  return { ...sum, refused, ranUnstored, attemptsNear: rounds.length === 0 ? 0 : near };
}
