import {
  exitCodes,
  reportFields,
  reportReasonClasses,
  type ReportReading,
  type ReportRefusal,
  type UpwardReport,
} from "@candor/contract";
import { parseUpwardReport } from "@candor/orchestrator/report";
import type { Command } from "commander";
import { present, type CommonOptions, type Context } from "../context.js";
import { examples } from "../help.js";
import { printable } from "../output/printable.js";
import { listing } from "../output/table.js";
import { readText } from "../text-input.js";

const answer = { what: "the subagent's answer", maxBytes: 64 * 1024 * 1024 } as const;

/** Items of a list that are shown; all are in the JSON. */
const shownItems = 20;

function shown(value: UpwardReport[keyof UpwardReport]): string {
  if (value === null) return "-";
  if (typeof value !== "object") return printable(String(value));
  const more = value.length > shownItems ? [`and ${value.length - shownItems} more`] : [];
  return value.length === 0 ? "none" : [...value.slice(0, shownItems).map(printable), ...more].join("; ");
}

function described({ terminal }: Context, reading: ReportReading): string {
  if (!reading.ok) return refused(terminal.colors, reading.refusal);
  const { report, ignored } = reading;
  const lines = [
    terminal.colors.green("The answer ends with a report that an orchestrator can read."),
    listing(
      terminal,
      reportFields.map((name) => [name, shown(report[name])]),
    ),
  ];
  if (ignored.length === 0) return lines.join("\n");
  const names = ignored.map(printable).join(", ");
  return [...lines, terminal.colors.yellow(`Without effect, since a report has no such field: ${names}`)].join("\n");
}

function refused({ red, dim }: Context["terminal"]["colors"], refusal: ReportRefusal): string {
  const { reasonClass, path, line, sentence } = refusal;
  const where = [path === "" ? "" : ` at ${path}`, line === undefined ? "" : `, line ${line}`].join("");
  const said = printable(sentence);
  return [
    `${red("Refused:")} ${reasonClass}${printable(where)}`,
    `  ${said.charAt(0).toUpperCase()}${said.slice(1)}.`,
    `  ${dim("What to do:")} ${reportReasonClasses[reasonClass].todo}`,
  ].join("\n");
}

export function addReport(program: Command, context: Context): void {
  program
    .command("report")
    .description("the report at the end of a subagent's answer")
    .command("check")
    .description("check that an answer ends with a report that an orchestrator can read; exit 1 if it does not")
    .argument("[file]", "a text file with the whole answer; standard input if it is - or left out")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      examples(
        "candor report check answer.md",
        "my-agent | candor report check",
        "candor report check --json answer.md",
      ),
    )
    .action(async (file: string | undefined, options: CommonOptions) => {
      const reading = parseUpwardReport(await readText(file, answer, context.terminal));
      const value = reading.ok
        ? reading
        : { ...reading, refusal: { ...reading.refusal, todo: reportReasonClasses[reading.refusal.reasonClass].todo } };
      present(context, options, value, () => described(context, reading));
      if (!reading.ok) context.exit = exitCodes.finding;
    });
}
