import { CandorError } from "@candor/contract";
import type { PublishAnswer } from "./publish-answer.js";

/** Answers after which a message may yet be stored. */
export type Doubt = Extract<PublishAnswer, { type: "later" | "silence" }>;

/** What is in the way of storing events, for people and programs. @param pending events that wait */
export function troubleOf(answer: Doubt, pending: number): CandorError {
  const isLater = answer.type === "later";
  const what = isLater ? "can't store events now" : "does not answer";
  const message = `The server ${what} (${answer.reason}): ${pending} wait and go on being sent.`;
  return new CandorError(isLater ? answer.code : "publish-unconfirmed", message);
}
