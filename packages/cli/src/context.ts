import { exitCodes } from "@candor/contract";
import type { CliExit } from "./exit.js";
import { jsonText } from "./output/json.js";
import type { Terminal } from "./output/terminal.js";

/** What every command is given. */
export interface Context {
  readonly terminal: Terminal;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** What the process ends with; a command that finds something sets it. */
  exit: CliExit;
}

export function createContext(terminal: Terminal, environment: Context["environment"]): Context {
  return { terminal, environment, exit: exitCodes.ok };
}

/** Options that every command has. */
export interface CommonOptions {
  readonly json?: boolean;
}

/** Prints a result: as JSON if that was asked for, else as the text made of it. */
export function present<T>(
  { terminal }: Context,
  { json = false }: CommonOptions,
  value: T,
  text: (value: T) => string,
): void {
  terminal.out(json ? jsonText(value) : text(value));
}
