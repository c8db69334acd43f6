import { join, resolve } from "node:path";
import { exitCodes } from "@candor/contract";
import {
  defaultMigrations,
  demoIdentities,
  demoTasks,
  listSqlFiles,
  runDemo,
  type DemoResult,
  type Row,
} from "@candor/demo";
import type { Command } from "commander";
import { certificateFile } from "../auth/auth-folder.js";
import { present, type CommonOptions, type Context } from "../context.js";
import { formatDuration } from "../duration.js";
import { defaultIdentities } from "../embedded/identities.js";
import { startEmbedded } from "../embedded/embedded.js";
import { examples } from "../help.js";
import { endInterrupted, watchInterruption } from "../interruption.js";
import { withBoard, type Tell } from "../output/board.js";
import { counted } from "../output/counted.js";
import { printable } from "../output/printable.js";
import { listing, table } from "../output/table.js";
import { defaultDataDir } from "../place-options.js";
import { self } from "../self.js";

interface DemoCommandOptions extends CommonOptions {
  readonly data?: string;
  readonly migrations?: string;
}

/** What is shown and printed of one demo. */
interface Shown extends DemoResult {
  readonly dataDir: string;
  readonly elapsedMs: number;
  /** Commands with which to look closer. */
  readonly lookCloser: readonly { readonly what: string; readonly command: string }[];
}

const serverRow = "server";

/** The audit works on the data as it lies there; the rest asks a running server. */
function lookCloser(context: Context, { rows, run }: DemoResult, dataDir: string): Shown["lookCloser"] {
  const candor = self(context);
  const shown = (task: string): string => `${candor} task show ${run} ${task} --data ${quoted(dataDir)}`;
  const concealed = rows.find(({ judged }) => judged?.verdict === "CONCEALMENT_DETECTED") ?? rows[0];
  const passedUp = rows.find(({ judged }) => (judged?.chain?.length ?? 0) > 1);
  return [
    { what: "replay it all", command: `${candor} audit --run ${run} --data ${quoted(dataDir)}` },
    { what: "start it again", command: `${candor} up --data ${quoted(dataDir)}` },
    { what: "then, beside it", command: shown(concealed?.task ?? "") },
    ...(passedUp === undefined ? [] : [{ what: "a failure's way up", command: shown(passedUp.task) }]),
    { what: "what a word means", command: `${candor} explain CONCEALMENT_DETECTED` },
  ];
}

/** A path as a shell takes it. */
function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

async function perform(dataDir: string, migrations: string, signal: AbortSignal, tell: Tell): Promise<DemoResult> {
  const embedded = await startEmbedded({
    dataDir,
    // As `candor up` makes them, and the demo's own.
    identities: [...defaultIdentities, ...demoIdentities],
    onStep: (text) => {
      tell(serverRow, text);
    },
  });
  try {
    tell(serverRow, `listens at ${embedded.url}`);
    const result = await runDemo({
      servers: [embedded.url],
      credentials: embedded.credentials,
      certificate: (identity) => certificateFile(embedded.authDir, identity),
      memoryDir: join(dataDir, "memory"),
      migrations,
      signal,
      onProgress: ({ task, text, row }) => {
        tell(task, text, row && (row.right ? "right" : "wrong"));
      },
    });
    tell(serverRow, "stopping");
    return result;
  } finally {
    await embedded.stop();
    tell(serverRow, "stopped; the data is kept", "right");
  }
}

/** How a failure came up over several layers. */
function wayUp({ colors, columns }: Context["terminal"], { chain = [] }: NonNullable<Row["judged"]>): string[] {
  if (chain.length < 2) return [];
  return columns === undefined ? [chain.join("; ")] : chain.map((layer) => colors.dim(`  ${layer}`));
}

/** The verdict, the one before it where there was one, and the findings. On a terminal each has a line of its own. */
function verdictCell({ terminal }: Context, { judged, problem = "" }: Row): string {
  if (judged === undefined) return printable(problem);
  const isWide = terminal.columns === undefined;
  const verdicts = [judged.story.slice(-2).join(isWide ? " → " : "\n"), ...wayUp(terminal, judged)].join(
    isWide ? ": " : "\n",
  );
  if (judged.findings.length === 0) return verdicts;
  if (isWide) return `${verdicts} (${judged.findings.join(", ")})`;
  return [verdicts, ...judged.findings.map((code) => terminal.colors.dim(`  ${code}`))].join("\n");
}

/** A terminal narrower than this gets each task below the other. */
const narrow = 96;

function tableOf(context: Context, rows: readonly Row[]): string {
  const { colors, columns = Infinity } = context.terminal;
  const head = ["TASK", "WHAT REALLY HAPPENED", "VERDICT", "ACTION", "GUARD"];
  const cells = rows.map((row) => [
    row.task,
    printable(row.truth?.happened ?? "unknown"),
    verdictCell(context, row),
    row.judged?.action ?? "none",
    row.right ? colors.green("right") : colors.red("wrong"),
  ]);
  if (columns >= narrow) return table(context.terminal, head, cells, 1);
  const names = head.map((title) => title.toLowerCase());
  return cells
    .map((row) =>
      table(
        context.terminal,
        [],
        row.map((cell, index) => [names[index] ?? "", cell]),
        1,
      ),
    )
    .join("\n\n");
}

const mostFindings = 10;

/** Which statements are dangerous, the gravest first. */
function findingsText(context: Context, { rows }: Shown): readonly string[] {
  const truth = rows.find(({ truth: found }) => (found?.findings ?? []).length > 0)?.truth;
  const { findings = [], facts = {} } = truth ?? {};
  if (findings.length === 0) return [];
  const shown = findings.slice(0, mostFindings);
  const more = Number(facts["dangerous"] ?? findings.length) - shown.length;
  const cells = shown.map(({ file, line, rule, severity, statement }) => [
    printable(`${file}:${line}`),
    severity,
    printable(rule),
    printable(statement),
  ]);
  return [
    "",
    "What the reviewer found dangerous, in the migrations:",
    table(context.terminal, ["WHERE", "SEVERITY", "RULE", "STATEMENT"], cells),
    ...(more > 0 ? [`and ${more} more (--json lists them)`] : []),
  ];
}

/** Which upstreams were in trouble, although nobody failed over it. */
function degradedText(context: Context, { degraded }: Shown): readonly string[] {
  return degraded.map(({ upstream, calls, firstTry, recovered, failed, tasks }) => {
    const what = `${calls} calls of ${counted(tasks, "task")}, ${firstTry} good at the first try, ${recovered} recovered, ${failed} failed`;
    const shows = failed === 0 ? " No task failed over it, and it shows all the same." : "";
    return `${context.terminal.colors.yellow("UPSTREAM_DEGRADED")} ${printable(upstream)}: ${what}.${shows}`;
  });
}

function describe(context: Context, shown: Shown): string {
  const count = shown.rows.filter(({ right }) => right).length;
  return [
    tableOf(context, shown.rows),
    "",
    `The guard was right about ${count} of ${shown.rows.length} tasks. It took ${formatDuration(shown.elapsedMs)}.`,
    "ACTION is about what a subagent reported: proceed means that its report can be relied on, not that what it reviewed is safe.",
    ...degradedText(context, shown),
    ...findingsText(context, shown),
    "",
    "Look closer:",
    listing(
      context.terminal,
      shown.lookCloser.map(({ command, what }) => [what, command]),
    ),
  ].join("\n");
}

export function addDemo(program: Command, context: Context): void {
  program
    .command("demo")
    .description(
      "see it work: eight subagents: two cheat, two disagree, one is recalled, one waits for approval, one delegates",
    )
    .option("--migrations <dir>", "folder with SQL migrations to review (default: those of the demo)")
    .option("--data <dir>", "where everything is kept (default: candor-data, or CANDOR_DATA)")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      `${examples("candor demo", "candor demo --migrations db/migrations")}

Exit code 0 only if the guard was right about every task.`,
    )
    .action(async (options: DemoCommandOptions) => {
      const startedAt = performance.now();
      const dataDir = resolve(options.data ?? defaultDataDir(context));
      const migrations = resolve(options.migrations ?? defaultMigrations);
      await listSqlFiles(migrations);
      const interruption = watchInterruption();
      try {
        const rows = [
          { id: serverRow, title: "server and guard" },
          ...demoTasks.map(({ agent, task, title }) => ({ id: task, title: `${agent} ${title}` })),
        ];
        const result = await withBoard(context.terminal, rows, (tell) =>
          perform(dataDir, migrations, interruption.signal, tell),
        );
        const shown: Shown = {
          ...result,
          dataDir,
          elapsedMs: Math.round(performance.now() - startedAt),
          lookCloser: lookCloser(context, result, dataDir),
        };
        present(context, options, shown, () => describe(context, shown));
        if (!result.right) context.exit = exitCodes.finding;
      } catch (error) {
        if (!interruption.signal.aborted) throw error;
        endInterrupted(
          context,
          interruption.signal.reason,
          "The guard was not through with it. The data is kept; run it again.",
        );
      } finally {
        interruption.release();
      }
    });
}
