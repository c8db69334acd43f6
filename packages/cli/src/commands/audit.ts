import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Bus } from "@candor/bus";
import { CandorError, exitCodes } from "@candor/contract";
import type { Command } from "commander";
import { auditRun, type AuditReport } from "../audit/audit.js";
import { openBusSource } from "../audit/bus-source.js";
import type { Count } from "../audit/comparison.js";
import { lanesOfStreams } from "../audit/stream-identity.js";
import { present, type CommonOptions, type Context } from "../context.js";
import { startEmbedded } from "../embedded/embedded.js";
import { isOrphaned, orphanedData } from "../embedded/orphaned-data.js";
import { livePlace } from "../embedded/place.js";
import { requireReadable } from "../folder.js";
import { examples } from "../help.js";
import { counted } from "../output/counted.js";
import { printable } from "../output/printable.js";
import { withProgress, type Say } from "../output/progress.js";
import { table } from "../output/table.js";
import { defaultDataDir, locate, withConnection, withPlaceOptions, type PlaceOptions } from "../place-options.js";

const mostShown = 20;

interface AuditOptions extends CommonOptions, PlaceOptions {
  readonly run?: string;
  readonly task?: string;
  readonly all?: boolean;
}

function requireScope({ run, task, all }: AuditOptions): void {
  if ((run === undefined) === (all !== true)) {
    throw new CandorError("bad-argument", "Say what to audit: either --run RUN or --all.");
  }
  if (task !== undefined && run === undefined) {
    throw new CandorError("bad-argument", "--task names a task of one run: name that with --run.");
  }
}

async function auditOver(bus: Bus, operator: string, { run, task }: AuditOptions, say: Say): Promise<AuditReport> {
  const source = openBusSource(bus, await lanesOfStreams(bus, operator));
  const report = await auditRun({ source, operator, run, task, onProgress: say });
  const isEmpty = report.entries === 0 && report.findings.length === 0;
  if (run === undefined || !isEmpty) return report;
  const what = task === undefined ? `a run ${run}` : `a task ${task} of a run ${run}`;
  const path = task === undefined ? "run" : "task";
  throw new CandorError("not-found", `The log holds nothing of ${what}: check the id.`, { path });
}

/** The data of a server that does not run: it is started for the audit, without a guard, and nothing is changed in it. */
async function auditAtRest(dataDir: string, options: AuditOptions, say: Say): Promise<AuditReport> {
  if (isOrphaned(dataDir)) throw orphanedData(dataDir);
  if (!existsSync(join(dataDir, "jetstream")) || !existsSync(join(dataDir, "auth", "operator"))) {
    throw new CandorError(
      "not-found",
      `${dataDir} is no data folder of "candor up" or "candor demo": name one with --data, or a server with --server and --credentials.`,
      { path: dataDir },
    );
  }
  const embedded = await startEmbedded({ dataDir, guards: [], identities: [], onStep: say });
  try {
    const { operator, url } = embedded;
    return await withConnection(
      { credentials: operator, servers: [url] },
      (bus) => auditOver(bus, operator.trust.operator, options, say),
      { provisioned: false },
    );
  } finally {
    await embedded.stop();
  }
}

async function audit(context: Context, options: AuditOptions, say: Say): Promise<AuditReport> {
  const dataDir = resolve(options.data ?? defaultDataDir(context));
  const isElsewhere = options.server !== undefined || options.credentials !== undefined;
  if (!isElsewhere) requireReadable(dataDir);
  if (!isElsewhere && (await livePlace(dataDir)) === undefined) return auditAtRest(dataDir, options, say);
  const located = await locate(context, options, ["operator", "auditor"]);
  const { operator } = located.credentials.trust;
  return withConnection(located, (bus) => auditOver(bus, operator, options, say), {
    provisioned: located.credentials.role !== "operator",
  });
}

function countLine({ reproduced, all }: Count, what: string): string {
  return `reproduced ${reproduced} of ${counted(all, what)}`;
}

function describe(context: Context, report: AuditReport): string {
  const { colors } = context.terminal;
  const { findings, counts, log, guards, chains } = report;
  const lines = [
    `log: ${counted(log.messages, "message")} up to sequence ${log.lastSeq}, compared with ${counted(log.checkpoints, "checkpoint")}`,
    countLine(counts.verdict, "verdict"),
    ...(counts.quarantine.all > 0 ? [countLine(counts.quarantine, "quarantine record")] : []),
    `signed by ${guards.length === 0 ? "nobody" : guards.map(printable).join(", ")}`,
    ...(chains.length === 0
      ? []
      : [
          `${counted(chains.length, "break")} in authors' own chains, which the verdicts are about (--json lists them)`,
        ]),
  ];
  const [first] = findings;
  if (first === undefined && log.messages === 0) return "There is nothing to audit: the log is empty.";
  if (first === undefined) return [...lines, colors.green("Nothing is wrong.")].join("\n");
  const rows = findings
    .slice(0, mostShown)
    .map(({ code, lane, seq, subject, ordinal, field, sentence }) => [
      colors.red(code),
      lane?.toString() ?? "?",
      seq?.toString() ?? "–",
      printable([subject, ordinal, field].filter((part) => part !== undefined).join(" ")),
      printable(sentence),
    ]);
  const more = findings.length > mostShown ? [`… and ${findings.length - mostShown} more (--json lists all)`] : [];
  return [
    ...lines,
    "",
    table(context.terminal, ["CODE", "LANE", "SEQUENCE", "RECORD", "WHAT"], rows),
    ...more,
    "",
    ...(first.code.startsWith("log-") && findings.some(({ code }) => code.startsWith("verdict-"))
      ? ["The log itself is damaged: what is said of verdicts follows from that."]
      : []),
    colors.red(`${counted(findings.length, "finding")}. "candor explain ${first.code}" says what to do.`),
  ].join("\n");
}

export function addAudit(program: Command, context: Context): void {
  withPlaceOptions(program.command("audit"))
    .description(
      "check the log against its checkpoints, replay it, and compare with every published verdict, byte for byte",
    )
    .option("--run <run>", "the run whose verdicts are compared")
    .option("--all", "compare the verdicts of all runs")
    .option("--task <task>", "only this task of the run")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      `${examples("candor audit --all", "candor audit --run demo-1 --data candor-data", "candor audit --run r1 --server nats://nats:4222 --credentials auditor-a")}

The whole log is checked either way. Exit code 1 if anything is found; "candor explain <code>" says what it means.`,
    )
    .action(async (options: AuditOptions) => {
      requireScope(options);
      const report = await withProgress(context.terminal, "candor audit", (say) => audit(context, options, say));
      present(context, options, report, () => describe(context, report));
      if (report.findings.length > 0) context.exit = exitCodes.finding;
    });
}
