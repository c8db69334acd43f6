/** What the receiver of an error does about it. */
export const errorActions = ["fix-input", "fix-setup", "retry", "look-up", "stop", "ask-operator"] as const;
export type ErrorAction = (typeof errorActions)[number];

/** Exit codes of the command line; documented in `packages/cli/README.md`. */
export const exitCodes = { ok: 0, finding: 1, usage: 2, setup: 3, unavailable: 4, refused: 5, defect: 70 } as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

interface ErrorRow {
  readonly action: ErrorAction;
  readonly exit: ExitCode;
}

/** Every code Candor throws. Closed: a receiver may switch over it. */
export const errorCodes = {
  // bytes and values
  malformed: { action: "fix-input", exit: 2 },
  "non-canonical": { action: "fix-input", exit: 2 },
  "too-large": { action: "fix-input", exit: 2 },
  "unknown-version": { action: "fix-setup", exit: 2 },
  "unknown-kind": { action: "fix-input", exit: 2 },
  "unknown-type": { action: "fix-input", exit: 2 },
  "subject-mismatch": { action: "fix-input", exit: 2 },
  "bad-argument": { action: "fix-input", exit: 2 },
  "bad-file": { action: "fix-input", exit: 2 },
  // trust
  "bad-key": { action: "fix-setup", exit: 3 },
  "key-exposed": { action: "fix-setup", exit: 3 },
  "bad-signature": { action: "stop", exit: 5 },
  "untrusted-key": { action: "stop", exit: 5 },
  "no-delegation": { action: "stop", exit: 5 },
  "bad-seal": { action: "stop", exit: 5 },
  // server
  "server-unreachable": { action: "retry", exit: 4 },
  "server-too-old": { action: "fix-setup", exit: 3 },
  "server-missing": { action: "fix-setup", exit: 3 },
  "server-failed": { action: "fix-setup", exit: 3 },
  "no-jetstream": { action: "fix-setup", exit: 3 },
  "not-provisioned": { action: "fix-setup", exit: 3 },
  "streams-differ": { action: "fix-setup", exit: 3 },
  "permission-denied": { action: "fix-setup", exit: 3 },
  "port-taken": { action: "fix-setup", exit: 3 },
  "folder-not-writable": { action: "fix-setup", exit: 3 },
  "store-full": { action: "ask-operator", exit: 4 },
  "connection-closed": { action: "retry", exit: 4 },
  "publish-unconfirmed": { action: "look-up", exit: 4 },
  // order and fencing
  "intent-lost": { action: "look-up", exit: 5 },
  "intent-rejected": { action: "look-up", exit: 5 },
  "already-accepted": { action: "stop", exit: 5 },
  "spool-locked": { action: "stop", exit: 5 },
  "spool-lost": { action: "stop", exit: 5 },
  recalled: { action: "stop", exit: 5 },
  fenced: { action: "stop", exit: 5 },
  "intent-key-unknown": { action: "fix-input", exit: 5 },
  "intent-key-reuse": { action: "stop", exit: 5 },
  "intent-key-in-doubt": { action: "ask-operator", exit: 5 },
  "task-over": { action: "stop", exit: 5 },
  "child-failed": { action: "look-up", exit: 5 },
  // tamper evidence
  "log-rolled-back": { action: "ask-operator", exit: 1 },
  "log-truncated": { action: "ask-operator", exit: 1 },
  "log-altered": { action: "ask-operator", exit: 1 },
  "guard-divergence": { action: "ask-operator", exit: 1 },
  // evidence
  "evidence-missing": { action: "look-up", exit: 1 },
  "evidence-altered": { action: "ask-operator", exit: 1 },
  // the rest
  "not-found": { action: "look-up", exit: 2 },
  undecided: { action: "retry", exit: 4 },
  defect: { action: "ask-operator", exit: 70 },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof errorCodes;

export interface CandorErrorOptions {
  /** Path of the offending field, like `payload.attempts[2].reason`. */
  readonly path?: string;
  /** Facts a program may act on, like the winning intent of a lost race. */
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/**
 * The one error class. `message` is for people and says what is wrong, where, and what to do next;
 * programs branch on `code` or on `action`, never on the message.
 */
export class CandorError extends Error {
  readonly code: ErrorCode;
  readonly path: string | undefined;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, options: CandorErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "CandorError";
    this.code = code;
    this.path = options.path;
    this.details = options.details ?? {};
  }

  get action(): ErrorAction {
    return errorCodes[this.code].action;
  }

  get exit(): ExitCode {
    return errorCodes[this.code].exit;
  }
}

/** True for an error of ours, with one of the given codes if any are given. */
export function isCandorError(error: unknown, ...codes: readonly ErrorCode[]): error is CandorError {
  try {
    return error instanceof CandorError && (codes.length === 0 || codes.includes(error.code));
  } catch {
    // Somebody's proxy that lets nobody look.
    return false;
  }
}
