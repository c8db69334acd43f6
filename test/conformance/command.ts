import { parseArgs } from "node:util";
import { CandorError, exitCodes, isCandorError } from "@candor/contract";
import { checkFolder } from "./folder.js";
import { printed } from "./print.js";

export interface CommandOutput {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
}

const usage = "usage: conformance [--vectors DIR] [--json]";

/**
 * Runs the conformance command: exit 0 when all cases agree, 1 on any difference or when nothing was checked, 2 on a
 * fault of the call.
 *
 * @param args the words after the command's name
 * @param defaultFolder where the vectors are when `--vectors` is not given
 */
export function conformance(args: readonly string[], defaultFolder: string): CommandOutput {
  try {
    const { vectors = defaultFolder, json = false } = options(args);
    const result = checkFolder(vectors);
    const stdout = json ? JSON.stringify({ vectors, ...result }) : printed(result);
    return { exit: result.ok ? exitCodes.ok : exitCodes.finding, stdout: `${stdout}\n`, stderr: "" };
  } catch (error) {
    if (!isCandorError(error)) throw error;
    const { code, message } = error;
    if (args.includes("--json")) {
      return {
        exit: exitCodes.usage,
        stdout: `${JSON.stringify({ ok: false, error: { code, message } })}\n`,
        stderr: "",
      };
    }
    return { exit: exitCodes.usage, stdout: "", stderr: `conformance: ${code}: ${message}\n` };
  }
}

function options(args: readonly string[]): { readonly vectors?: string; readonly json?: boolean } {
  try {
    // pnpm 10 hands a bare `--` on to the script; it ends nothing here.
    const words = args.filter((word) => word !== "--");
    return parseArgs({ args: words, options: { vectors: { type: "string" }, json: { type: "boolean" } } }).values;
  } catch (cause) {
    const reason = (cause instanceof Error ? cause.message : String(cause)).split("\n")[0] ?? "";
    throw new CandorError("bad-argument", `${reason}; ${usage}`, { cause });
  }
}
