import { applyStreams, checkStreams, type ProvisioningReport, type StreamChange } from "@candor/bus";
import { CandorError, exitCodes, isCandorError, streams } from "@candor/contract";
import type { Command } from "commander";
import { confirm } from "../confirmation.js";
import { present, type CommonOptions, type Context } from "../context.js";
import { examples } from "../help.js";
import { count, laneCount } from "../numbers.js";
import { bytes } from "../output/bytes.js";
import { printable } from "../output/printable.js";
import { table } from "../output/table.js";
import { locate, withConnection, withPlaceOptions, type PlaceOptions } from "../place-options.js";
import { readStreamFacts, type StreamFacts } from "../stream-facts.js";

interface ApplyOptions extends CommonOptions, PlaceOptions {
  readonly check?: boolean;
  readonly yes?: boolean;
  readonly lanes?: number;
  readonly replicas?: number;
}

function value(field: unknown): string {
  if (field === undefined || field === null) return "–";
  return printable(typeof field === "string" ? field : JSON.stringify(field)).slice(0, 48);
}

function changeTable({ terminal }: Context, changes: readonly StreamChange[]): string {
  const { colors } = terminal;
  const paint = { create: colors.green, update: colors.yellow, immutable: colors.red } as const;
  return table(
    terminal,
    ["STREAM", "FIELD", "IS", "BECOMES", ""],
    changes.map(({ stream, field, from, to, change }) => [
      stream,
      field === "*" ? "(the stream)" : field,
      field === "*" ? "missing" : value(from),
      field === "*" ? "made" : value(to),
      paint[change](change === "immutable" ? "can't be changed" : change),
    ]),
  );
}

/** What differs that cannot be changed comes as an error; here it is as good as any other difference. */
async function planned(plan: () => Promise<ProvisioningReport>): Promise<Pick<ProvisioningReport, "changes">> {
  try {
    return await plan();
  } catch (error) {
    const changes = isCandorError(error, "streams-differ") ? error.details["changes"] : undefined;
    if (Array.isArray(changes)) return { changes: changes as StreamChange[] };
    throw error;
  }
}

function addApply(group: Command, context: Context): void {
  withPlaceOptions(group.command("apply"))
    .description(
      "make the streams, or change them to what this version needs; shows what differs before it changes anything",
    )
    .option("--check", "change nothing; exit 1 if anything differs")
    .option("--yes", "do not ask before changing")
    .option("--lanes <number>", "lanes of the log, 1 to 1024, fixed when it is first made", laneCount)
    .option("--replicas <number>", "copies of each stream: 1, 3 or 5", count)
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      examples(
        "candor streams apply --check",
        "candor streams apply --replicas 3 --yes",
        "candor streams apply --server nats://nats:4222 --credentials /etc/candor/operator",
      ),
    )
    .action(async (options: ApplyOptions) => {
      const located = await locate(context, options, ["operator"]);
      const { lanes, replicas } = options;
      const wanted = {
        operator: located.credentials.trust.operator,
        ...(lanes === undefined ? {} : { lanes }),
        ...(replicas === undefined ? {} : { replicas }),
      };
      await withConnection(
        located,
        async ({ nc }) => {
          const { changes } = await planned(() => applyStreams(nc, { ...wanted, dryRun: true }));
          const isFixed = changes.some(({ change }) => change === "immutable");
          const applied = options.check !== true && !isFixed && changes.length > 0;
          if (options.json !== true) {
            context.terminal.out(
              changes.length === 0 ? "The streams are as they should be." : changeTable(context, changes),
            );
          }
          if (applied) {
            const question = `Make ${changes.length === 1 ? "this change" : `these ${changes.length} changes`}?`;
            if (options.yes !== true && !(await confirm(context, question))) return;
            await applyStreams(nc, wanted);
          }
          if (options.json === true) present(context, options, { changes, applied }, () => "");
          else if (applied) context.terminal.out("Done.");
          if (isFixed && options.check !== true)
            throw new CandorError(
              "streams-differ",
              "What can't be changed was fixed when the streams were made: use another server, or the settings they were made with.",
            );
          if (options.check === true && changes.length > 0) context.exit = exitCodes.finding;
        },
        { provisioned: false },
      );
    });
}

function addShow(group: Command, context: Context): void {
  withPlaceOptions(group.command("show"))
    .description("show the streams: how much is in them, and whether they are as they should be")
    .option("--json", "print JSON")
    .addHelpText("after", examples("candor streams show", "candor streams show --json"))
    .action(async (options: CommonOptions & PlaceOptions) => {
      const located = await locate(context, options, ["operator"]);
      await withConnection(
        located,
        async (bus) => {
          const { operator } = located.credentials.trust;
          const { changes, lanes, replicas } = await checkStreams(bus.nc, { operator });
          const facts = await Promise.all(Object.values(streams).map((name) => readStreamFacts(bus, name)));
          const found = facts.filter((fact) => fact !== undefined);
          present(context, options, { operator, lanes, replicas, streams: found, changes }, () =>
            [
              `operator ${operator}, ${lanes} lanes, ${replicas} ${replicas === 1 ? "replica" : "replicas"}`,
              streamTable(context, found),
              changes.length === 0 ? "All are as they should be." : changeTable(context, changes),
            ].join("\n\n"),
          );
        },
        { provisioned: false },
      );
    });
}

function streamTable({ terminal }: Context, facts: readonly StreamFacts[]): string {
  return table(
    terminal,
    ["STREAM", "MESSAGES", "SIZE", "FIRST", "LAST", "SUBJECTS", "MISSING"],
    facts.map(({ name, messages, bytes: size, firstSeq, lastSeq, subjects, missing }) => [
      name,
      ...[
        messages.toString(),
        bytes(size),
        firstSeq.toString(),
        lastSeq.toString(),
        subjects.toString(),
        missing.toString(),
      ],
    ]),
  );
}

export function addStreams(program: Command, context: Context): void {
  const group = program.command("streams").description("make, check and show the streams on the server");
  addApply(group, context);
  addShow(group, context);
}
