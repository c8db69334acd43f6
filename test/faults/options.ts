import { parseArgs } from "node:util";
import { CandorError } from "@candor/contract";
import { fewestInputs } from "./fault-plan.js";

export const usage = `Usage: pnpm -s chaos guard [--inputs N] [--kills N] [options]
       pnpm -s chaos fence [--rounds N] [options]
       pnpm -s chaos effect [--short] [options]

guard  Two guards on one lane, killed at random moments and between a verdict and its answer, frozen and let go, and on
       three nodes the streams' leaders killed too: is every verdict stored once, in order, as the log gives it?
fence  Agents dispatch effects while recalls land: is a dispatch stored after its recall?
effect A payer is killed with SIGKILL at ten points around its effect, and a fresh process goes on, with its spool or in a
       new epoch: does the payment service book one payment, and does the task end as the intent declares? Prints a table.

  --inputs N   events that guards have something to say on; 400 by default
  --kills N    guards killed with SIGKILL; 10 by default
  --rounds N   recalls; 200 by default
  --short      each of the ten points once, instead of with every restart and every policy
  --nodes N    1 (default) or 3 servers
  --seed N     repeats the choice of moments of an earlier run; drawn by default, and printed
  --limit S    gives up after so many seconds; 600 by default

One JSON line on standard output (effect: a table, unless --json), progress on standard error. Exit 0 if all is as it must be, 1 if not, 2 for a mistake
in the arguments.
`;

interface Common {
  readonly nodes: 1 | 3;
  readonly seed: number;
  readonly limitMs: number;
}

export type ChaosOptions =
  | ({ readonly command: "guard"; readonly inputs: number; readonly kills: number } & Common)
  | ({ readonly command: "fence"; readonly rounds: number } & Common)
  | ({ readonly command: "effect"; readonly short: boolean; readonly json: boolean } & Common)
  | { readonly command: "help" };

const numbers = { inputs: 400, kills: 10, rounds: 200, nodes: 1, limit: 600 } as const;
type NumberName = keyof typeof numbers;

const commands = ["guard", "fence", "effect"] as const;
type Command = (typeof commands)[number];

function isCommand(text: string | undefined): text is Command {
  return commands.some((command) => command === text);
}

const belongsTo: Partial<Readonly<Record<NumberName, Command>>> = {
  inputs: "guard",
  kills: "guard",
  rounds: "fence",
};

function mistake(message: string, path: string): CandorError {
  return new CandorError("bad-argument", `${message} See pnpm -s chaos --help.`, { path });
}

function requireRoom(inputs: number, kills: number, nodes: number): void {
  const fewest = fewestInputs(kills, nodes);
  if (inputs < fewest) throw mistake(`${kills} kills on ${nodes} nodes need ${fewest} inputs or more.`, "inputs");
}

function parse(args: readonly string[]) {
  const text = { type: "string" } as const;
  const flag = { type: "boolean" } as const;
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        inputs: text,
        kills: text,
        rounds: text,
        nodes: text,
        seed: text,
        limit: text,
        help: flag,
        short: flag,
        // Figures are JSON anyway; a table is not.
        json: flag,
      },
    });
  } catch (error) {
    throw mistake(error instanceof Error ? error.message : "The arguments can't be read.", "arguments");
  }
}

function wholeNumber(text: string, name: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw mistake(`--${name} takes a whole number, not ${JSON.stringify(text)}.`, name);
}

/**
 * Reads the arguments.
 * @throws CandorError `bad-argument`
 */
export function readOptions(args: readonly string[]): ChaosOptions {
  const { positionals, values } = parse(args);
  const [command, ...more] = positionals;
  if (values.help === true) return { command: "help" };
  if (command === undefined) throw mistake('Say what to run: "guard", "fence" or "effect".', "command");
  if (!isCommand(command) || more.length > 0) {
    throw mistake(`${JSON.stringify(positionals.join(" "))} is none of "guard", "fence" and "effect".`, "command");
  }
  if (values.short === true && command !== "effect") throw mistake("--short belongs to effect.", "short");
  const read = (name: NumberName): number => {
    const given = values[name];
    const owner = belongsTo[name];
    if (given === undefined) return numbers[name];
    if (owner !== undefined && owner !== command) throw mistake(`--${name} belongs to ${owner}.`, name);
    return wholeNumber(given, name);
  };
  const given = { inputs: read("inputs"), kills: read("kills"), rounds: read("rounds") };
  const nodes = read("nodes");
  if (nodes !== 1 && nodes !== 3) throw mistake(`--nodes is 1 or 3, not ${nodes}.`, "nodes");
  const limit = read("limit");
  const seed = values.seed === undefined ? Math.floor(Math.random() * 1_000_000) : wholeNumber(values.seed, "seed");
  const common = { nodes, seed, limitMs: limit * 1_000 } as const;
  if (command === "guard") requireRoom(given.inputs, given.kills, nodes);
  if (command !== "effect") return { command, ...common, ...given };
  return { command, ...common, short: values.short === true, json: values.json === true };
}
