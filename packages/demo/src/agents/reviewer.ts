import { setImmediate } from "node:timers/promises";
import type { TaskContext } from "@candor/subagent";
import { z } from "zod";
import { reviewFile, type FileReview } from "../migrations/folder-review.js";
import { listSqlFiles } from "../migrations/sql-folder.js";
import { doTask } from "./honest-task.js";
import { printable } from "../migrations/printable.js";
import { severities } from "../migrations/rules.js";
import type { Agent, Job, ReviewCounts, ReviewFinding, Say, Told } from "./messages.js";
import { keyTasksOf, listing } from "./review-key-tasks.js";

/** What the reviewer is to do. */
export const reviewWorkSchema = z.object({ folder: z.string() });
export type ReviewWork = Readonly<z.infer<typeof reviewWorkSchema>>;

interface Claimed {
  readonly claim: "pass" | "fail" | "unsure";
  readonly summary: string;
}

/** Reviews every migration of a folder: one call a file, and an honest word on each that could not be reviewed. */
export const reviewMigrations: Agent = (job, say) => review(job, say, completeness);

/** Does the same work by another measure: it passes nothing that loses data or opens access. */
export const objectToMigrations: Agent = (job, say) => review(job, say, safety);

async function review(job: Job, say: Say, claimOf: (reviews: readonly FileReview[]) => Claimed): Promise<Told> {
  const { folder } = reviewWorkSchema.parse(job.work);
  const reviews: FileReview[] = [];
  const told = await doTask(job, (task) =>
    task.run(async (ctx) => {
      const files = await ctx.attempt(listing, { covers: listing }, ({ signal }) => listSqlFiles(folder, signal));
      const keyTasks = keyTasksOf(files);
      for (const [index, entry] of files.entries()) {
        // Parsing does not yield: give the network, a recall among it, its turn.
        await setImmediate();
        const covers = keyTasks[index] ?? listing;
        const found = await ctx.attempt("migrations.review", { covers }, ({ signal }) => reviewFile(entry, { signal }));
        await tellFailure(ctx, found, covers);
        reviews.push(found);
        say(`${reviews.length} of ${files.length} files, ${countsOf(reviews).dangerous} findings of danger`);
      }
      // Whoever is told of a conflict opens this: the report has its hash alone.
      await ctx.evidence.put("findings, the gravest first", JSON.stringify(gravest(reviews), undefined, 2));
      tellUnchecked(ctx, reviews);
      return claimOf(reviews);
    }),
  );
  return { ...told, review: countsOf(reviews), findings: gravest(reviews) };
}

/**
 * That a file is no SQL is what the review has to say of it, so it is dealt with on the spot. One that could not be
 * looked at is work that was not done.
 */
async function tellFailure(ctx: TaskContext, { file, parseError }: FileReview, covers: string): Promise<void> {
  if (parseError === undefined) return;
  const { line, message, type } = parseError;
  const isAnswer = type === "invalid-input";
  const place = line === undefined ? file : `${file}:${line}`;
  await ctx.error(`${place}: ${message}`, { operation: "migrations.review", covers, type, recovered: isAnswer });
  if (!isAnswer) ctx.cover(covers, "partial");
}

function isBroken({ parseError }: FileReview): boolean {
  return parseError?.type === "invalid-input";
}

function isUnread(review: FileReview): boolean {
  return review.parseError !== undefined && !isBroken(review);
}

function tellUnchecked(ctx: TaskContext, reviews: readonly FileReview[]): void {
  const unchecked = reviews.filter(({ parseError }) => parseError !== undefined).map(({ file }) => file);
  if (unchecked.length > 0) ctx.caveat(`not checked statement by statement: ${unchecked.join(", ")}`);
}

function completeness(reviews: readonly FileReview[]): Claimed {
  const { broken, dangerous, files, high, statements, unread } = countsOf(reviews);
  return {
    claim: unread > 0 ? "unsure" : "pass",
    summary: `${files} files, ${statements} statements, ${dangerous} findings of danger (${high} of them lose data or open access), ${broken} files are no SQL, ${unread} could not be read`,
  };
}

function safety(reviews: readonly FileReview[]): Claimed {
  const { high, unread } = countsOf(reviews);
  // Who has not seen all of it fails none of it.
  if (unread > 0) return { claim: "unsure", summary: `${unread} files could not be read` };
  if (high > 0) return { claim: "fail", summary: `${high} findings lose data or open access: not to be run like this` };
  return { claim: "pass", summary: "nothing was found that loses data or opens access" };
}

/** So many findings are passed on; the counts are of all. */
const mostFindings = 1_000;

function gravest(reviews: readonly FileReview[]): ReviewFinding[] {
  return reviews
    .flatMap(({ file, findings }) => findings.map((finding) => ({ file: printable(file), ...finding })))
    .sort((a, b) => severities.indexOf(b.severity) - severities.indexOf(a.severity))
    .slice(0, mostFindings);
}

function countsOf(reviews: readonly FileReview[]): ReviewCounts {
  const findings = reviews.flatMap((review) => review.findings);
  return {
    files: reviews.length,
    statements: reviews.reduce((sum, review) => sum + review.statements, 0),
    dangerous: findings.length,
    flagged: reviews.reduce((sum, { dangerous = 0 }) => sum + dangerous, 0),
    high: findings.filter(({ severity }) => severity === "high").length,
    broken: reviews.filter(isBroken).length,
    unread: reviews.filter(isUnread).length,
    dataLines: reviews.reduce((sum, { dataLines = 0 }) => sum + dataLines, 0),
  };
}
