import { CandorError, type CoverageState, type ErrorType, type Payload } from "@candor/contract";
import { attempt, type AttemptOptions, type Try } from "./attempt.js";
import { givenUp } from "./attempt-scope.js";
import type { TaskEvidence } from "./evidence.js";
import type { EffectCall, Effects } from "./effect.js";
import type { EffectOptions } from "./effect-plan.js";
import { toFailure } from "./failure.js";
import { requireLabel } from "./label.js";
import { passUp, type ChildFailure, type PassUpOptions } from "./pass-up.js";
import type { TaskDesk } from "./task-desk.js";

export interface ErrorOptions {
  /** What failed; `task` by default. */
  readonly operation?: string;
  readonly upstream?: string;
  /** Key task that it concerns. */
  readonly covers?: string;
  /** Dealt with: the task's success does not suffer from it. */
  readonly recovered?: boolean;
  /** The agent's own type for it; by table otherwise. */
  readonly type?: ErrorType;
  readonly finality?: Payload<"error">["finality"];
  /** What the receiver might try. Prose, and named for what it is: no code reads it (F4). */
  readonly unverifiedHint?: string;
}

/** What the callback of a task works with. Concurrent use is normal. */
export interface TaskContext {
  /** Aborted at once when the task is recalled, terminated, closed or delegated anew. */
  readonly signal: AbortSignal;
  /** A call that may fail and be tried again; each failure and each retry is recorded when it happens. */
  attempt<T>(operation: string, options: AttemptOptions, run: (attempt: Try) => Promise<T> | T): Promise<T>;
  /**
   * A change outside the agent. It runs only after its dispatch is stored, under the key that the delegation minted,
   * and once: asked for again, it gives what the first returned. It must be one call: two changes are two effects.
   *
   * @throws CandorError `intent-key-unknown`, `intent-key-reuse`, `intent-key-in-doubt`, `recalled`, `fenced`,
   *   `publish-unconfirmed`, and what `run` throws
   */
  effect<T>(options: EffectOptions, run: (effect: EffectCall) => Promise<T> | T): Promise<T>;
  /** What bears the task's claim out, stored once under its hash. */
  readonly evidence: TaskEvidence;
  /**
   * Counts bytes that went through the agent on the way: read, received, written. A report then tells work and result beside
   * each other, and one nearly as large as the other is flagged (T5). Without it nothing is measured.
   */
  consumed(bytes: number): void;
  /** Says what was not checked. Prose for people. */
  caveat(text: string): void;
  /** States how far a key task is done; wins over what calls that cover it came to. */
  cover(task: string, state: CoverageState): void;
  /**
   * Passes the failure of a task that this one delegated up, with a signed hop appended (F8). Throw what it returns where
   * this task fails by it.
   *
   * @throws CandorError `bad-argument` for a hop that contradicts itself, `task-over`
   */
  passUp(child: ChildFailure, options?: PassUpOptions): Promise<CandorError>;
  /** Records an error that the callback dealt with or wants told. */
  error(error: unknown, options?: ErrorOptions): Promise<void>;
}

/** One fewer than a report takes: the last is for calls that were left. */
const mostCaveats = 999;

/** @param caveats where caveats are kept for the report */
export function createContext(
  desk: TaskDesk,
  effects: Effects,
  evidence: TaskEvidence,
  caveats: string[],
): TaskContext {
  return {
    signal: desk.signal,
    attempt: (operation, options, run) => attempt(desk, operation, options, run),
    effect: (options, run) => effects.run(options, run),
    evidence: {
      put: (label, source) => evidence.put(label, source),
      get: (handle) => evidence.get(handle),
    },
    consumed: (bytes) => {
      desk.requireUnreported();
      if (!Number.isSafeInteger(bytes) || bytes < 0)
        throw new CandorError("bad-argument", "What was consumed is a whole number of bytes.", { path: "bytes" });
      // Whoever counts wrongly is to have a report all the same.
      desk.work.consumed = Math.min(desk.work.consumed + bytes, Number.MAX_SAFE_INTEGER);
    },
    caveat: (text) => {
      desk.requireUnreported();
      if (text.trim() === "") throw new CandorError("bad-argument", "A caveat needs a text.", { path: "text" });
      if (caveats.length >= mostCaveats) {
        throw new CandorError("too-large", `A report takes ${mostCaveats} caveats; put several into one.`);
      }
      caveats.push(text);
    },
    cover: (task, state) => {
      desk.requireUnreported();
      requireLabel(task, "task");
      desk.coverage.expect(task);
      desk.coverage.state(task, state);
    },
    passUp: (child, options = {}) => passUp(desk, child, options),
    error: (error, options = {}) => noteError(desk, error, options),
  };
}

/** An error that was told before and is dealt with now is answered by a retry, since events are never rewritten. */
async function noteError(desk: TaskDesk, error: unknown, options: ErrorOptions): Promise<void> {
  const { operation = "task", upstream, covers, recovered = false, type, finality, unverifiedHint } = options;
  requireLabel(operation, "operation");
  desk.requireUnreported();
  const known = desk.faults.seqOf(error);
  if (known !== undefined) {
    const reason = await known;
    if (recovered && reason !== undefined)
      await desk.faults.retry({ operation, upstream, attempt: 2, reason, delayMs: 0, outcome: "ok" });
    return;
  }
  const failure = toFailure(error, type === undefined ? undefined : () => type);
  await desk.faults.error(error, {
    operation,
    upstream,
    covers,
    type: failure.type,
    finality: finality ?? (recovered ? "recoverable" : givenUp(failure)),
    recovered,
    attempt: 1,
    priors: [],
    retryAfterMs: failure.retryAfterMs,
    description: failure.description,
    unverifiedHint,
  });
}
