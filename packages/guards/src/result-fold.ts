import { decomposition } from "./spawn.js";
import type { KeptReport } from "./disclosure-state.js";
import type { Judgement } from "./judgement.js";
import { none } from "./kept.js";
import { ResultBoard } from "./result-board.js";
import type { Speaker } from "./speaker.js";
import { lastSpoken } from "./spoken.js";
import type { EpochState, RunState, TaskState } from "./state.js";

/** Puts the result of a task's present epoch beside the others, once, if there is anything that others can contradict. */
export function foldResult(
  run: RunState,
  task: TaskState,
  epoch: EpochState,
  report: KeptReport,
  speaker: Speaker,
): void {
  const { examines = none } = epoch.brief;
  const { evidence } = epoch.disclosure.odd;
  if (examines.length === 0 && evidence.length === 0) return;
  if ((report.claim !== "pass" && report.claim !== "fail") || run.results?.epochOf(task.task) === epoch.epoch) return;
  const { claim } = report;
  run.results ??= new ResultBoard();
  run.results.put({
    task: task.task,
    epoch: epoch.epoch,
    actor: epoch.actor,
    claim,
    seq: speaker.seq,
    examines,
    evidence,
  });
  speakResults(run, speaker);
}

/** A result stands for its task no more: it was delegated anew, or closed as of no use. */
export function withdrawResult(run: RunState, task: TaskState, speaker: Speaker): void {
  if (run.results?.withdraw(task.task) === true) speakResults(run, speaker);
}

/** A run that is read again for one late event has only that task's results: it has nothing to say of others. */
function speakResults(run: RunState, speaker: Speaker): void {
  if (run.results === undefined || run.revived) return;
  const { judgement, conflicts, first } = run.results.judge();
  // Results that never contradicted each other need no word.
  if (conflicts.length === 0 && lastSpoken(run.self, "result") === undefined) return;
  speaker.verdict(run, run.self, "result", judgement, {
    epoch: undefined,
    ...(conflicts.length === 0 ? {} : { conflicts, first }),
  });
}

/** Says of a result that it is nearly as large as its work (T5). It may be right for all that: the action is to proceed. */
export function judgeSizes(
  run: RunState,
  task: TaskState,
  epoch: EpochState,
  report: KeptReport,
  speaker: Speaker,
): void {
  const { sizes } = report;
  if (sizes === undefined || decomposition(sizes) !== "under-decomposed") return;
  const judgement: Judgement = {
    verdict: "UNDER_DECOMPOSED",
    action: "proceed",
    final: true,
    findings: [{ code: "under-decomposed", about: `${sizes.result} of ${sizes.work} bytes` }],
  };
  speaker.verdict(run, task, "result", judgement, { epoch });
}
