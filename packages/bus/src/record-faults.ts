import { CandorError, type ErrorCode } from "@candor/contract";

/** Two guards judged the same log differently. */
export function divergence(subject: string, ordinal: number, seq: number): CandorError {
  return new CandorError(
    "guard-divergence",
    `Record ${ordinal} on ${subject} is stored at ${seq} with another content than this guard's: two guards judged the same log differently. Nothing more is stored on that subject; compare the guards' versions and run an audit.`,
    { details: { subject, ordinal, seq } },
  );
}

/** A record that was stored is no longer there. */
export function verdictsRolledBack(subject: string, ordinal: number, last: number): CandorError {
  return new CandorError(
    "log-rolled-back",
    `The record before number ${ordinal} on ${subject} was stored and is gone (the last is at ${last}): the verdict stream was rolled back. Keep the data folder as it is and ask the operator.`,
    { details: { subject, ordinal, last } },
  );
}

/** The server won't ever store this. */
export function recordRefused(subject: string, code: ErrorCode, reason: string): CandorError {
  return new CandorError(
    code,
    `The server won't store a record on ${subject}: ${reason}. Check the guard's credentials and the streams.`,
  );
}
