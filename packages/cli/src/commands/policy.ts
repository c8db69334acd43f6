import {
  CandorError,
  defaultEvidenceRetentionMs,
  defaultPolicy,
  errorTypes,
  exitCodes,
  finalities,
  hex,
  planContexts,
  policyFaultTable,
  policyHash,
  severities,
  type FailureCell,
  type FailurePolicy,
  type Policy,
  type PolicyFault,
  type PolicyReading,
} from "@candor/contract";
import { parsePolicy } from "@candor/orchestrator/policy";
import type { Command } from "commander";
import { present, type CommonOptions, type Context } from "../context.js";
import { formatDuration } from "../duration.js";
import { examples } from "../help.js";
import { printable } from "../output/printable.js";
import { listing, table } from "../output/table.js";
import { painted } from "../story/story-text.js";
import { readText } from "../text-input.js";

const policyFile = { what: "the policy", maxBytes: 4 * 1024 * 1024 } as const;

async function read(file: string | undefined, context: Context): Promise<PolicyReading> {
  if (file === undefined) return { ok: true, policy: defaultPolicy };
  return parsePolicy(await readText(file, policyFile, context.terminal));
}

function faultText({ red, dim }: Context["terminal"]["colors"], { code, path, sentence }: PolicyFault): string {
  const where = path === "" ? "" : ` at ${printable(path)}`;
  return `${red(code)}${where}\n  ${printable(sentence)}.\n  ${dim("What to do:")} ${policyFaultTable[code].todo}`;
}

function checkText({ terminal: { colors } }: Context, reading: PolicyReading): string {
  if (reading.ok) return `${colors.green("ok")}  ${hex(policyHash(reading.policy))}`;
  return reading.faults.map((fault) => faultText(colors, fault)).join("\n");
}

/** A row of the table for each type and finality; what is alike for all finalities of a type stands once. */
function tableRows(context: Context, { rows }: FailurePolicy): string[][] {
  const cellText = ({ severity, action }: FailureCell): string => `${severity} ${painted(context, action)}`;
  return errorTypes.flatMap((type) => {
    const lines = finalities.map((finality) => planContexts.map((where) => cellText(rows[type][finality][where])));
    const [first = []] = lines;
    if (lines.every((line) => line.join() === first.join())) return [[type, "any", ...first]];
    return finalities.map((finality, index) => [index === 0 ? type : "", finality, ...(lines[index] ?? [])]);
  });
}

function explainText(context: Context, policy: Policy): string {
  const { failures, settleMs, acknowledgeMs, maxGraceMs, reorderBuffer, lateEventsPerActor } = policy;
  const { evidenceRetentionMs = defaultEvidenceRetentionMs } = policy;
  const { terminal } = context;
  if (failures === undefined) throw new CandorError("defect", "A policy that was read has a table of failures.");
  return [
    table(terminal, ["ERROR TYPE", "FINALITY", "RESULT NEEDED", "RESULT OPTIONAL"], tableRows(context, failures)),
    listing(
      terminal,
      severities.map((severity) => [severity, failures.severities[severity]]),
    ),
    listing(terminal, [
      ["settle window", `${settleMs} ms after a report`],
      ["acknowledgement", `within ${acknowledgeMs} ms`],
      ["longest grace", `${maxGraceMs} ms`],
      ["waiting events", `${reorderBuffer} of one author`],
      ["late events", `${lateEventsPerActor} of one actor to a closed task`],
      ["evidence", `kept for ${formatDuration(evidenceRetentionMs)} after the run is closed`],
      ...upstreamLines(policy),
      ["hash", hex(policyHash(policy))],
    ]),
  ].join("\n\n");
}

/** From when on an upstream counts as degraded, and blame on one as borne out by nobody. */
function upstreamLines({ upstreams }: Policy): (readonly [name: string, value: string])[] {
  if (upstreams === undefined) return [["upstreams", "not judged"]];
  const { windowMs, minCalls, troubledShare, blame } = upstreams;
  return [
    ["degraded", `${troubledShare} of ${minCalls} calls or more in ${windowMs} ms did not succeed at their first try`],
    ["blame", `does not hold against ${blame.calls} calls of ${blame.tasks} other tasks without trouble`],
  ];
}

/** @throws CandorError `bad-file` with the first fault */
function requireGood(reading: PolicyReading): Policy {
  if (reading.ok) return reading.policy;
  const [first] = reading.faults;
  throw new CandorError("bad-file", `The policy does not hold: ${first?.sentence ?? ""}. Run "candor policy check".`, {
    path: first?.path ?? "",
  });
}

export function addPolicy(program: Command, context: Context): void {
  const group = program.command("policy").description("what runs are judged by");
  group
    .command("check")
    .description("check a policy file (YAML or JSON); exit 1 if it does not hold")
    .argument("[file]", "the file, or - for standard input; without it the default policy is checked")
    .option("--json", "print JSON")
    .addHelpText("after", examples("candor policy check policy.yaml", "candor policy check --json policy.yaml"))
    .action(async (file: string | undefined, options: CommonOptions) => {
      const reading = await read(file, context);
      const value = reading.ok
        ? { ok: true, hash: hex(policyHash(reading.policy)) }
        : { ok: false, faults: reading.faults.map((one) => ({ ...one, todo: policyFaultTable[one.code].todo })) };
      present(context, options, value, () => checkText(context, reading));
      if (!reading.ok) context.exit = exitCodes.finding;
    });
  group
    .command("explain")
    .description("show what a policy does about each failure, and its limits")
    .argument("[file]", "the file, or - for standard input; without it the default policy is shown")
    .option("--json", "print the policy as JSON, with everything that a file may hold")
    .addHelpText("after", examples("candor policy explain", "candor policy explain --json > policy.json"))
    .action(async (file: string | undefined, options: CommonOptions) => {
      const policy = requireGood(await read(file, context));
      present(context, options, policy, () => explainText(context, policy));
    });
}
