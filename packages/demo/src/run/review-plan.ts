import { keyTasksOf, listing } from "../agents/review-key-tasks.js";
import type { ReviewCounts, Told } from "../agents/messages.js";
import type { ReviewWork } from "../agents/reviewer.js";
import type { SqlPath } from "../migrations/sql-folder.js";
import { taskOf } from "./demo-task.js";
import { verified, type Plan, type Truth } from "./plan.js";

/** For all that is not parsing. */
const baseMs = 60_000;
/** The largest file that is parsed takes about this long. */
const fileMs = 5_000;

const nothing: ReviewCounts = {
  files: 0,
  statements: 0,
  dangerous: 0,
  flagged: 0,
  high: 0,
  broken: 0,
  unread: 0,
  dataLines: 0,
};

/** What really happened, by what the reviewer found. */
export function reviewTruth({ claim, errors, review = nothing, findings = [] }: Told): Truth {
  const { broken, dangerous, dataLines, files, flagged, high, statements, unread } = review;
  const trouble = [...(broken === 0 ? [] : [`${broken} no SQL`]), ...(unread === 0 ? [] : [`${unread} not read`])].join(
    ", ",
  );
  return {
    happened:
      `${files} files, ${statements} statements: ${flagged} of them dangerous, with ${dangerous} ${dangerous === 1 ? "finding" : "findings"}, ${high} of which lose data or open access` +
      (dataLines === 0 ? "" : `; ${dataLines} lines of COPY data not reviewed`) +
      (trouble === "" ? "" : `; ${trouble}, and told so`),
    facts: { ...review, toldErrors: errors, claim },
    findings,
    // An honest word on what could not be read is no concealment; somebody has to look at those files.
    expected: verified(claim === "pass" && unread === 0 ? "proceed" : "verify"),
  };
}

/** The reviewer's task, on any folder. */
export function reviewPlan(folder: string, files: readonly SqlPath[]): Plan {
  const task = taskOf("reviewer");
  return {
    ...task,
    brief: { title: task.title, keyTasks: [...new Set([listing, ...keyTasksOf(files)])] },
    work: { folder } satisfies ReviewWork,
    limitMs: baseMs + files.length * fileMs,
    truth: reviewTruth,
  };
}
