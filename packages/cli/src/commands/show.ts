import { hex, runTask, type AdmittedEvent, type Conflict } from "@candor/contract";
import type { Command } from "commander";
import { lanesOfStreams } from "../audit/stream-identity.js";
import { present, type CommonOptions, type Context } from "../context.js";
import { examples } from "../help.js";
import { self } from "../self.js";
import { printable } from "../output/printable.js";
import { listing, table } from "../output/table.js";
import { locate, withConnection, withPlaceOptions, type PlaceOptions } from "../place-options.js";
import { prose } from "../story/prose.js";
import { listRuns } from "../story/run-list.js";
import { readRunLog, type RunLog } from "../story/run-log.js";
import { taskRows, taskText } from "../story/story-text.js";
import { tellUpstreams, upstreamText, type UpstreamStory } from "../story/upstream-story.js";
import { tasksOf, tellTask, type TaskStory } from "../story/task-story.js";

type ShowOptions = CommonOptions & PlaceOptions;

async function readLog(
  context: Context,
  options: PlaceOptions,
  at: { readonly run: string; readonly task?: string },
): Promise<RunLog> {
  const located = await locate(context, options, ["operator", "auditor"]);
  const { credentials } = located;
  return withConnection(
    located,
    async (bus) => readRunLog(bus, await lanesOfStreams(bus, credentials.trust.operator), at),
    { provisioned: credentials.role !== "operator" },
  );
}

/** What there is to say of a run itself. */
interface RunStory extends UpstreamStory {
  readonly run: string;
  readonly lane: number;
  readonly fleet: string | undefined;
  readonly title: string | undefined;
  readonly openedMs: number | undefined;
  readonly closed: string | undefined;
  readonly isolation: string | undefined;
  readonly policy: string | undefined;
  readonly probers: readonly string[];
  readonly prose: TaskStory["prose"];
  readonly tasks: readonly TaskStory[];
  /** Results that contradict each other, as the guard last said. */
  readonly conflicts: readonly Conflict[];
}

function tellRun(log: RunLog): RunStory {
  const events = log.entries.filter(
    (entry): entry is AdmittedEvent => entry.type === "event" && entry.event.task === runTask,
  );
  const opening = events.find((entry) => entry.kind === "run-open");
  const closing = events.find((entry) => entry.kind === "run-close");
  return {
    run: log.run,
    lane: log.lane,
    fleet: opening?.event.actor,
    title: prose(opening?.payload.title, log.key),
    openedMs: opening?.timeMs,
    closed: closing?.payload.state,
    isolation: opening?.payload.isolation,
    policy: opening === undefined ? undefined : hex(opening.payload.policyHash),
    probers: opening?.payload.probers.map(({ name }) => name) ?? [],
    prose: log.key.state,
    tasks: tasksOf(log).map((task) => tellTask(log, task)),
    conflicts: log.verdicts.filter(({ task, judge }) => task === runTask && judge === "result").at(-1)?.conflicts ?? [],
    ...tellUpstreams(log),
  };
}

function conflictText({ pass, fail, on, evidence }: Conflict): string {
  const about = on.length === 0 ? "" : ` on ${on.map(printable).join(", ")}`;
  const open = evidence.length === 0 ? "" : `; open ${evidence.map(({ hash }) => hex(hash).slice(0, 16)).join(" ")}`;
  return `${pass.task} says pass, ${fail.task} fail${about}${open}`;
}

function runText(context: Context, story: RunStory): string {
  const {
    run,
    lane,
    fleet = "unknown",
    title,
    openedMs,
    closed,
    isolation = "unknown",
    policy = "unknown",
    probers,
    tasks,
    conflicts,
  } = story;
  const entries: [string, string][] = [
    ["run", `${run}, lane ${lane}`],
    ["fleet", fleet],
    ...(title === undefined ? [] : ([["title", printable(title)]] satisfies [string, string][])),
    ["opened", openedMs === undefined ? "not in the log" : new Date(openedMs).toISOString()],
    ["state", closed === undefined ? "open" : `closed: ${closed}`],
    ["isolation", isolation],
    ["policy", policy],
    ["probers", probers.length === 0 ? "none" : probers.join(", ")],
    ...conflicts.map((conflict): [string, string] => ["conflict", context.terminal.colors.red(conflictText(conflict))]),
  ];
  const next = tasks[0] === undefined ? "" : `\n\n${self(context)} task show ${run} ${tasks[0].task}   shows one task`;
  const upstreams = upstreamText(context, story);
  return (
    [
      listing(context.terminal, entries),
      tasks.length === 0 ? "No task was delegated." : taskRows(context, tasks),
      ...(upstreams === undefined ? [] : [upstreams]),
    ].join("\n\n") + next
  );
}

export function addTask(program: Command, context: Context): void {
  const group = program.command("task").description("look at one task");
  withPlaceOptions(group.command("show"))
    .description("show what the log and the verdict stream hold of a task: epochs, events, effects, verdicts, findings")
    .argument("<run>", "id of the run")
    .argument("<task>", "id of the task")
    .option("--json", "print JSON")
    .addHelpText("after", examples("candor task show demo-1 pay-invoices", "candor task show r1 t1 --json"))
    .action(async (run: string, task: string, options: ShowOptions) => {
      const log = await readLog(context, options, { run, task });
      present(context, options, tellTask(log, task), (story) => taskText(context, story));
    });
}

function addList(group: Command, context: Context): void {
  withPlaceOptions(group.command("list"))
    .description("list the runs that the log holds, the newest last")
    .option("--json", "print JSON")
    .addHelpText("after", examples("candor run list", "candor run list --json"))
    .action(async (options: ShowOptions) => {
      const located = await locate(context, options, ["operator", "auditor"]);
      const runs = await withConnection(located, listRuns, { provisioned: located.credentials.role !== "operator" });
      present(context, options, runs, () => {
        const last = runs.at(-1);
        if (last === undefined) return "The log holds no run yet.";
        const rows = runs.map(({ run, fleet, lane, openedMs, closed = "open" }) => [
          run,
          fleet,
          `${lane}`,
          new Date(openedMs).toISOString(),
          closed,
        ]);
        return `${table(context.terminal, ["RUN", "FLEET", "LANE", "OPENED", "STATE"], rows)}\n\n${self(context)} run show ${last.run}   shows the newest`;
      });
    });
}

export function addRun(program: Command, context: Context): void {
  const group = program.command("run").description("look at runs");
  addList(group, context);
  withPlaceOptions(group.command("show"))
    .description("show a run and its tasks, with the verdict and the action of each")
    .argument("<run>", 'id of the run, as "candor run list" shows it')
    .option("--json", "print JSON")
    .addHelpText("after", examples("candor run show demo-1", "candor run show demo-1 --json"))
    .action(async (run: string, options: ShowOptions) => {
      const log = await readLog(context, options, { run });
      present(context, options, tellRun(log), (story) => runText(context, story));
    });
}
