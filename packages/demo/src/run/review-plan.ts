import { keyTasksOf, listing } from "../agents/review-key-tasks.js";
import type { ReviewCounts, Told } from "../agents/messages.js";
import type { ReviewWork } from "../agents/reviewer.js";
import type { SqlPath } from "../migrations/sql-folder.js";
import { taskOf } from "./demo-task.js";
import { verified, type Expected, type Plan, type Truth } from "./plan.js";

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
    expected: expectedOf({ claim, high, unread }),
  };
}

/** What both reviewers look at: they may say what they like of it, but not the opposite of each other. */
const examined = "migrations";

/**
 * The first reviewer passes what it could review, the second passes nothing grave. So where something grave is found, they
 * contradict each other, and neither is taken at its word.
 */
function expectedOf({ claim, high, unread }: Pick<Told, "claim"> & Pick<ReviewCounts, "high" | "unread">): Expected {
  if (claim === "fail") return { ...verified("redispatch"), findings: ["results-conflict"] };
  if (claim === "pass" && high > 0)
    return { verdict: "RESULTS_CONFLICT", action: "verify", findings: ["results-conflict"] };
  // An honest word on what could not be read is no concealment; somebody has to look at those files.
  return verified(claim === "pass" && unread === 0 ? "proceed" : "verify");
}

/** The tasks of both reviewers, on any folder. */
export function reviewPlans(folder: string, files: readonly SqlPath[]): readonly Plan[] {
  const keyTasks = [...new Set([listing, ...keyTasksOf(files)])];
  return (["reviewer", "second-reviewer"] as const).map((agent) => {
    const task = taskOf(agent);
    return {
      ...task,
      brief: { title: task.title, keyTasks, examines: [examined] },
      work: { folder } satisfies ReviewWork,
      limitMs: baseMs + files.length * fileMs,
      compared: examined,
      truth: reviewTruth,
    };
  });
}
