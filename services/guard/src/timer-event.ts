import {
  encodeBody,
  encodeFrame,
  encodePayload,
  guardActor,
  publishedSubject,
  zeroHash,
  type Payload,
} from "@candor/contract";
import type { TimerRequest } from "@candor/guards";

/**
 * The event that tells the log of a deadline that has passed: unsigned, outside any chain, under the one actor that all
 * guards share.
 * @param atMs estimated log time; shown to people only
 * @param evidence what was found, for a timer of kind `evidence`
 */
export function timerEvent(
  request: TimerRequest,
  atMs: number,
  evidence?: Payload<"timer">["evidence"],
): { readonly subject: string; readonly bytes: Uint8Array } {
  const { run, task, epoch, timer, deadlineMs } = request;
  const payload = encodePayload("timer", { timer, deadlineMs, ...(evidence === undefined ? {} : { evidence }) });
  const header = { kind: "timer", role: "guard", actor: guardActor, seq: 1, prev: zeroHash } as const;
  const body = encodeBody({ ...header, run, task, epoch, at: Math.floor(atMs), payload });
  const address = { role: "guard", actor: guardActor, run, task, kind: "timer" } as const;
  return { subject: publishedSubject(address), bytes: encodeFrame(body) };
}
