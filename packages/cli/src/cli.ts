import { readFileSync } from "node:fs";
import { exitCodes, type ExitCode } from "@candor/contract";
import { Command, CommanderError } from "commander";
import { commandLoaders, type AddCommand } from "./command-loaders.js";
import { createContext, type Context } from "./context.js";
import { toFailure } from "./failure.js";
import { examples } from "./help.js";
import type { CliExit } from "./exit.js";
import { jsonLine } from "./output/json.js";
import type { Terminal } from "./output/terminal.js";

/** Version of this package. */
function version(): string {
  const text = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { readonly version: string }).version;
}

/** The commands that this command line needs: the one it names, or all where the help or a suggestion lists them. */
async function loadCommands(args: readonly string[]): Promise<readonly AddCommand[]> {
  const named = args.find((word) => !word.startsWith("-")) ?? "";
  const one = Object.hasOwn(commandLoaders, named) ? commandLoaders[named] : undefined;
  return one === undefined ? Promise.all(Object.values(commandLoaders).map((load) => load())) : [await one()];
}

async function createProgram(context: Context, args: readonly string[]): Promise<Command> {
  const program = new Command("candor")
    .description("Keeps delegated work honest: signed facts in, verdicts out.")
    .version(version(), "-V, --version", "print the version")
    .helpOption("-h, --help", "print help")
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => {
        context.terminal.out(text.trimEnd());
      },
      writeErr: (text) => {
        context.terminal.note(text.trimEnd());
      },
      // What is wrong is said once, by `say`.
      outputError: () => undefined,
    })
    .addHelpText("after", examples("candor demo", "candor up", "candor audit --all", "candor explain log-gap"));
  for (const add of await loadCommands(args)) add(program, context);
  for (const command of program.commands) inherit(command, program);
  return program;
}

/** Settings do not reach commands that are made before they are set, or below another. */
function inherit(command: Command, parent: Command): void {
  command.copyInheritedSettings(parent);
  for (const child of command.commands) inherit(child, command);
}

function say(context: Context, args: readonly string[], error: unknown): void {
  const failure = toFailure(error);
  context.exit = failure.exit;
  context.terminal.note(
    args.includes("--json") ? jsonLine({ error: failure.json }) : `candor: ${failure.code}: ${failure.message}`,
  );
  if ((context.environment["DEBUG"] ?? "").includes("candor") && error instanceof Error) {
    context.terminal.note(error.stack ?? "");
    if (error.cause instanceof Error) context.terminal.note(`caused by ${error.cause.stack ?? ""}`);
  }
}

/** Help and version end a command too; a group of commands without the command prints help, but it was a mistake. */
const helpExits: Readonly<Record<string, ExitCode>> = {
  "commander.helpDisplayed": exitCodes.ok,
  "commander.version": exitCodes.ok,
  "commander.help": exitCodes.usage,
};

/**
 * Runs one command line.
 *
 * @param args what follows the program's name
 * @returns what the process should end with; it never throws
 */
export async function runCli(
  args: readonly string[],
  terminal: Terminal,
  environment: Context["environment"],
): Promise<CliExit> {
  const context = createContext(terminal, environment);
  try {
    const program = await createProgram(context, args);
    if (args.length === 0) program.outputHelp();
    else await program.parseAsync([...args], { from: "user" });
  } catch (error) {
    const exit = error instanceof CommanderError ? helpExits[error.code] : undefined;
    if (exit !== undefined) return exit;
    say(context, args, error);
  }
  return context.exit;
}
