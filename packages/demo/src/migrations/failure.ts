import type { ErrorType } from "@candor/contract";

/**
 * Why a file could not be reviewed, and what that is in the wire's vocabulary: the type tells the
 * receiver what to do, so a file that is too large is `over-budget` and not `invalid-input`.
 */
export const fileFailures = {
  "syntax-error": "invalid-input",
  "not-utf8": "invalid-input",
  "nul-byte": "invalid-input",
  "too-large": "over-budget",
  "too-deep": "over-budget",
  "permission-denied": "denied",
  unreadable: "unavailable",
  "parser-failed": "defect",
} as const satisfies Record<string, ErrorType>;

export type FileFailure = keyof typeof fileFailures;

export interface ParseError {
  readonly failure: FileFailure;
  readonly type: ErrorType;
  /** For people: what is wrong and what to do. */
  readonly message: string;
  /** 1-based, where the place is known. */
  readonly line?: number;
}

/** A `ParseError` with the wire type that goes with the failure. */
export function parseError(failure: FileFailure, message: string, line?: number): ParseError {
  return { failure, type: fileFailures[failure], message, ...(line === undefined ? {} : { line }) };
}
