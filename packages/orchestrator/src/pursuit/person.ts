import { equalBytes, type Payload } from "@candor/contract";
import type { Run } from "../run.js";
import { refuse, requireText } from "../required.js";
import { aborted, within } from "../time-limit.js";
import type { Escalation, PersonAnswer, Pursuit } from "./pursuit.js";

/** What a person said, here or elsewhere; `isStored` if the log has it already. */
export type Answered =
  | (Extract<PersonAnswer, { readonly person: string }> & { readonly isStored: boolean })
  | { readonly kind: "left" }
  | { readonly kind: "overtaken" };

/**
 * Asks a person through the callback, and looks for an approval that somebody else stores; the first answer counts.
 *
 * @param control number of the intent that the task stands under
 */
export async function askPerson(
  run: Run,
  pursuit: Pursuit,
  escalation: Escalation,
  control: number,
): Promise<Answered> {
  const answer = await within(pursuit.personMs, async (signal) => {
    const over = new AbortController();
    const both = AbortSignal.any([signal, over.signal]);
    try {
      return await Promise.race([fromCallback(pursuit, escalation, both), fromLog(run, escalation, control, both)]);
    } finally {
      over.abort();
    }
  });
  return answer ?? { kind: "left" };
}

async function fromCallback(
  { ask }: Pursuit,
  escalation: Escalation,
  signal: AbortSignal,
): Promise<Answered | undefined> {
  if (ask === undefined) {
    await aborted(signal);
    return undefined;
  }
  const answer = await Promise.race([ask(escalation), aborted(signal)]);
  if (answer === undefined) return undefined;
  requireAnswer(answer);
  return answer.kind === "leave" ? { kind: "left" } : { ...answer, isStored: false };
}

const answers = ["approve", "accept", "reject", "redispatch", "leave"] satisfies PersonAnswer["kind"][];

/** What a callback without types gave; nothing is stored of an answer that is none. @throws CandorError `bad-argument` */
function requireAnswer(answer: unknown): void {
  if (typeof answer !== "object" || answer === null) throw refuse("ask", "a function that gives an answer");
  const { kind, person, approved, authority = [] } = answer as Readonly<Record<string, unknown>>;
  if (!answers.some((one) => one === kind)) throw refuse("ask.kind", answers.join(", "));
  if (kind === "leave") return;
  requireText(person, "ask.person");
  if (kind === "approve" && !Array.isArray(approved)) throw refuse("ask.approved", "a list of planned actions");
  if (!Array.isArray(authority)) throw refuse("ask.authority", "a list of names");
}

async function fromLog(
  run: Run,
  escalation: Escalation,
  control: number,
  signal: AbortSignal,
): Promise<Answered | undefined> {
  const found = await run.approvalAfter(escalation.task, control, { signal });
  return found === undefined || found === "overtaken" ? found && { kind: found } : answerOf(escalation, found);
}

/** What an approval from elsewhere means for the question that was asked. */
function answerOf({ planned }: Escalation, approval: Payload<"approve">): Answered {
  const { person, accept, authority, approved } = approval;
  const isStored = true;
  if (accept) return { kind: "accept", person, isStored };
  if (planned.length === 0) return { kind: "redispatch", person, authority, isStored };
  const named = planned.filter(({ digest }) => approved.some((one) => equalBytes(one, digest)));
  return { kind: "approve", person, approved: named, isStored };
}
