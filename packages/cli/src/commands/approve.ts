import { CandorError, hex } from "@candor/contract";
import type { PlannedAction, Run, TaskReport } from "@candor/orchestrator";
import { InvalidArgumentError, type Command } from "commander";
import { present, type CommonOptions, type Context } from "../context.js";
import { examples } from "../help.js";
import { count } from "../numbers.js";
import { printable } from "../output/printable.js";
import { withProgress } from "../output/progress.js";
import { listing } from "../output/table.js";
import { withPlaceOptions, type PlaceOptions } from "../place-options.js";
import { self } from "../self.js";
import { confirmMs, withRun } from "./control.js";

interface ApproveOptions extends CommonOptions, PlaceOptions {
  readonly person?: string;
  readonly action?: readonly number[];
  readonly refuse?: readonly number[];
  readonly accept?: boolean;
  readonly redispatches?: number;
  readonly authority?: readonly string[];
}

/** What there is to approve, and what was approved. */
interface Shown {
  readonly run: string;
  readonly task: string;
  readonly epoch: number;
  readonly agent: string;
  readonly report: string;
  readonly status: string;
  readonly confidence: number | undefined;
  readonly blockers: readonly string[];
  readonly planned: readonly string[];
  /** The intent, if one was stored. */
  readonly approval?: { readonly control: number; readonly sequence: number; readonly person: string };
}

function numbers(text: string, before: readonly number[] | undefined): readonly number[] {
  const value = Number(text);
  if (!/^\d{1,3}$/.test(text) || value < 1)
    throw new InvalidArgumentError("It must be the number of a planned action.");
  return [...(before ?? []), value];
}

function words(text: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), text];
}

function shownOf(run: string, report: TaskReport): Shown {
  const { task, epoch, agent, hash, upward, selfReportedConfidence: confidence, planned } = report;
  return {
    run,
    task,
    epoch,
    agent,
    report: hex(hash),
    status: upward?.status ?? "no upward report",
    confidence,
    blockers: upward?.blockers ?? [],
    planned: planned.map(({ text }) => text),
  };
}

function shownText(
  context: Context,
  { run, task, epoch, agent, status, confidence, blockers, planned, approval }: Shown,
): string {
  const rows: [string, string][] = [
    ["task", `${task} of run ${run}, epoch ${epoch}, by ${agent}`],
    ["status", status],
    ["its own confidence", confidence === undefined ? "none" : `${confidence}`],
    ...blockers.map((text): [string, string] => ["blocker", printable(text)]),
    ...planned.map((text, index): [string, string] => [`planned ${index + 1}`, printable(text)]),
  ];
  const said =
    approval === undefined
      ? `${self(context)} approve ${run} ${task} --person NAME --action 1   approves the first planned action`
      : `The approval by ${printable(approval.person)} holds: control number ${approval.control}, sequence ${approval.sequence}.`;
  return `${listing(context.terminal, rows)}\n\n${said}`;
}

function chosen(planned: readonly PlannedAction[], wanted: readonly number[] = []): PlannedAction[] {
  return wanted.map((number) => {
    const found = planned[number - 1];
    if (found !== undefined) return found;
    throw new CandorError(
      "bad-argument",
      `The report plans ${planned.length} actions, so there is no number ${number}.`,
      {
        path: "action",
      },
    );
  });
}

async function approve(run: Run, task: string, options: ApproveOptions): Promise<Shown> {
  const decision = await run.decision(task, { timeoutMs: confirmMs });
  const report = await run.report(task);
  if (report === undefined) {
    const why = decision.kind === "undecided" ? ` ${decision.sentence}` : "";
    throw new CandorError(
      "not-found",
      `No guard has judged a report of task ${task} under terms of its delegation, so there is nothing to approve.${why}`,
      { path: "task" },
    );
  }
  const { person, action, refuse, accept = false, redispatches = 0, authority = [] } = options;
  const asked = action !== undefined || refuse !== undefined || accept || redispatches > 0 || authority.length > 0;
  if (!asked) return shownOf(run.id, report);
  if (person === undefined)
    throw new CandorError("bad-argument", "Say who approves, with --person NAME: the name stands in the log.", {
      path: "person",
    });
  const intent = await run.approve(task, {
    person,
    report,
    approved: chosen(report.planned, action),
    refused: chosen(report.planned, refuse),
    accept,
    redispatches,
    authority,
  });
  await run.confirm(intent, { timeoutMs: confirmMs });
  const { control, sequence } = intent;
  return { ...shownOf(run.id, report), approval: { control, sequence, person } };
}

export function addApprove(program: Command, context: Context): void {
  withPlaceOptions(program.command("approve"))
    .description("show what a report plans and asks for, and store a person's leave for it")
    .argument("<run>", "id of the run")
    .argument("<task>", "id of the task")
    .option("--person <name>", "who approves; the name stands in the log")
    .option("--action <number>", "a planned action that may run; again for more", numbers)
    .option("--refuse <number>", "a planned action that may not run; again for more", numbers)
    .option("--accept", "the result may be used although no verifier vouches for it")
    .option("--redispatches <count>", "re-dispatches beyond the task's terms", count)
    .option("--authority <word>", "what the next delegation may allow in addition; again for more", words)
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      examples(
        "candor approve r1 deploy",
        "candor approve r1 deploy --person ada --action 1 --refuse 2",
        "candor approve r1 deploy --person ada --redispatches 1 --authority write",
      ),
    )
    .action(async (run: string, task: string, options: ApproveOptions) => {
      const shown = await withProgress(context.terminal, "candor approve", () =>
        withRun(context, options, run, (attached) => approve(attached, task, options)),
      );
      present(context, options, shown, (value) => shownText(context, value));
    });
}
