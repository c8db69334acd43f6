import { CandorError, decodePayload, type Payload } from "@candor/contract";
import type { RunContext } from "./run-context.js";
import type { Intent } from "./run-options.js";
import { judgementOf } from "./task-line.js";
import { within } from "./time-limit.js";

/**
 * Waits until the guard accepted an intent.
 *
 * @throws CandorError `intent-rejected` with the findings in its details, `undecided` if nothing came in `timeoutMs`
 */
export async function confirmIntent(
  { view }: Pick<RunContext, "view">,
  intent: Intent,
  timeoutMs: number,
): Promise<void> {
  const { task, control, sequence } = intent;
  const judged = await within(timeoutMs, async (signal) => {
    let found = judgementOf(view.line(task), intent);
    while (found === undefined && !signal.aborted) {
      await view.changed(task, signal);
      found = judgementOf(view.line(task), intent);
    }
    return found;
  });
  if (judged === true) return;
  if (judged === false) {
    throw new CandorError(
      "intent-rejected",
      `The guard rejected control number ${control} of task ${task}, so it changes nothing; the verdict of judge "intent" says why.`,
      { details: { task, control, sequence, findings: view.findings(task, intent.hash) } },
    );
  }
  throw new CandorError(
    "undecided",
    `No guard has judged control number ${control} of task ${task} within ${timeoutMs} ms. See that a guard runs, then ask again.`,
    { details: { task, control, sequence } },
  );
}

/** Waits for an approval of the task that holds after the control number, whoever gave it; undefined at the signal. */
export async function approvalAfter(
  { client, view, lane, id }: RunContext,
  task: string,
  control: number,
  signal: AbortSignal,
): Promise<Payload<"approve"> | "overtaken" | undefined> {
  while (!signal.aborted) {
    const { accepted } = view.line(task);
    if (accepted !== undefined && accepted.control > control) {
      if (accepted.kind !== "approve") return "overtaken";
      const found = await client.lastIntent({ lane, run: id, task });
      if (found?.intent.sequence === accepted.sequence) return decodePayload("approve", found.payload);
      return "overtaken";
    }
    await view.changed(task, signal);
  }
  return undefined;
}
