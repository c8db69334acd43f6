import type { QuarantineBody, TimerKind, VerdictBody } from "@candor/contract";

/** A signature check; pure, so that a guard may answer it from a memo that other threads filled. */
export type Verify = (publicKey: string, message: Uint8Array, signature: Uint8Array) => boolean;

/** A piece of evidence that is to be looked up. */
export interface EvidenceLookUp {
  readonly actor: string;
  /** SHA-256, 32 bytes. */
  readonly hash: Uint8Array;
  /** In bytes, as the report says. */
  readonly size: number;
}

export interface TimerRequest {
  readonly run: string;
  readonly task: string;
  readonly epoch: number;
  readonly timer: TimerKind;
  /** Log time in ms at which a `timer` event is due. */
  readonly deadlineMs: number;
  /** For a timer of kind `evidence`: what to look up before the event is published. */
  readonly evidence?: readonly EvidenceLookUp[];
}

/** What folding one entry brings forth, in order. */
export type Output =
  | { readonly type: "verdict"; readonly subject: string; readonly body: VerdictBody }
  | { readonly type: "quarantine"; readonly subject: string; readonly body: QuarantineBody }
  | ({ readonly type: "timer" } & TimerRequest)
  | ({ readonly type: "timer-cancelled" } & TimerRequest);
