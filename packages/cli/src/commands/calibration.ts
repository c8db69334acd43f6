import { laneOf, requireId, streams } from "@candor/contract";
import { calibrate, calibrationSamples, type Calibration, type Reliability } from "@candor/guards";
import { admit, verifySignature } from "@candor/ledger";
import type { Bus } from "@candor/bus";
import type { Command } from "commander";
import { lanesOfStreams } from "../audit/stream-identity.js";
import { present, type CommonOptions, type Context } from "../context.js";
import { examples } from "../help.js";
import { counted } from "../output/counted.js";
import { withProgress } from "../output/progress.js";
import { table } from "../output/table.js";
import { locate, withConnection, withPlaceOptions, type PlaceOptions } from "../place-options.js";
import { listRuns } from "../story/run-list.js";
import { nothingOf } from "../story/run-log.js";
import { readMessages } from "../story/stream-messages.js";

type CalibrationOptions = CommonOptions & PlaceOptions;

interface Found {
  /** Runs that were read. */
  readonly runs: number;
  /** Reports whose truth a prober told. */
  readonly reports: number;
  readonly subagents: readonly Calibration[];
}

async function readCalibration(
  bus: Bus,
  {
    operator,
    run,
    say,
  }: { readonly operator: string; readonly run: string | undefined; readonly say: (text: string) => void },
): Promise<Found> {
  const lanes = await lanesOfStreams(bus, operator);
  const runs = run === undefined ? (await listRuns(bus)).map((listed) => listed.run) : [requireId(run, "run")];
  const samples = [];
  for (const [index, id] of runs.entries()) {
    say(`${index} of ${runs.length} runs read`);
    const lane = laneOf(id, lanes);
    const entries = (await readMessages(bus, streams.log, `candor.log.${lane}.${id}.>`)).map(admit);
    if (entries.length === 0) throw nothingOf(`a run ${id}`, "run");
    samples.push(...calibrationSamples(entries, { lane, operator }, verifySignature));
  }
  return { runs: runs.length, reports: samples.length, subagents: calibrate(samples) };
}

const rounded = (value: number): string => value.toFixed(2);

function score({ brier }: Reliability): string {
  return brier === null ? "–" : brier.toFixed(4);
}

function binText(reliability: Reliability, from: number): string {
  const bin = reliability.bins.find((one) => one.from === from);
  return bin === undefined ? "–" : `${rounded(bin.confirmed)} of ${bin.count}, said ${rounded(bin.confidence)}`;
}

function calibrationText({ terminal }: Context, { runs, reports, subagents }: Found): string {
  const read = `${counted(reports, "report")} with a probe's answer in ${counted(runs, "run")}`;
  if (reports === 0) return `${read}: nothing to compare confidence with yet.`;
  const scores = table(
    terminal,
    ["SUBAGENT", "REPORTS", "CONFIRMED", "BRIER COMPUTED", "BRIER SELF-REPORTED", "WITH A NUMBER OF ITS OWN"],
    subagents.map(({ actor, count, confirmed, computed, selfReported }) => [
      actor,
      `${count}`,
      `${confirmed}`,
      score(computed),
      score(selfReported),
      `${selfReported.count}`,
    ]),
  );
  const rows = subagents.flatMap(({ actor, computed, selfReported }) => {
    const bins = [...new Map([...computed.bins, ...selfReported.bins].map((bin) => [bin.from, bin.to]))];
    return bins
      .sort(([a], [b]) => a - b)
      .map(([from, to]) => [
        actor,
        `${from.toFixed(1)}–${to.toFixed(1)}`,
        binText(computed, from),
        binText(selfReported, from),
      ]);
  });
  const bins = table(terminal, ["SUBAGENT", "CONFIDENCE", "COMPUTED: CONFIRMED", "SELF-REPORTED: CONFIRMED"], rows);
  return `${read}.\n\n${scores}\n\n${bins}`;
}

export function addCalibration(program: Command, context: Context): void {
  withPlaceOptions(program.command("calibration"))
    .description("compare what was said of reports with what probers found: Brier score and reliability by subagent")
    .argument("[run]", "id of the run; all runs that the log holds without it")
    .option("--json", "print JSON")
    .addHelpText("after", examples("candor calibration", "candor calibration demo-1 --json"))
    .action(async (run: string | undefined, options: CalibrationOptions) => {
      const located = await locate(context, options, ["operator", "auditor"]);
      const { role, trust } = located.credentials;
      const found = await withProgress(context.terminal, "candor calibration", (say) =>
        withConnection(located, (bus) => readCalibration(bus, { operator: trust.operator, run, say }), {
          provisioned: role !== "operator",
        }),
      );
      present(context, options, found, (value) => calibrationText(context, value));
    });
}
