import { CandorError, exitCodes, isCandorError, type ExitCode } from "@candor/contract";
import { CommanderError } from "commander";
import { plain } from "./output/json.js";
import { printable } from "./output/printable.js";

/** What is said of an error that ended a command. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly exit: ExitCode;
  /** For programs, with --json. */
  readonly json: Readonly<Record<string, unknown>>;
}

/** System errors that are a person's to mend, with what they mean. */
const systemErrors: Readonly<
  Record<string, readonly [code: "bad-file" | "folder-not-writable" | "store-full", text: string]>
> = {
  ENOENT: ["bad-file", "is not there"],
  ENOTDIR: ["bad-file", "is no folder"],
  EISDIR: ["bad-file", "is a folder"],
  EACCES: ["folder-not-writable", "may not be read or written by this user"],
  EPERM: ["folder-not-writable", "may not be read or written by this user"],
  EROFS: ["folder-not-writable", "is on a read-only file system"],
  ENOSPC: ["store-full", "can't be written: the disk is full"],
};

function fromSystem(error: unknown): CandorError | undefined {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return undefined;
  const [code, text] = systemErrors[error.code] ?? [];
  if (code === undefined) return undefined;
  const path = "path" in error && typeof error.path === "string" ? error.path : "A file that is needed";
  return new CandorError(code, `${path} ${text}. Correct the path or its rights.`, { cause: error });
}

function fromCommander(error: unknown): CandorError | undefined {
  if (!(error instanceof CommanderError)) return undefined;
  const text = error.message.replace(/^error: /, "").replace(/\n+/g, " ");
  return new CandorError("bad-argument", `${text}${/[.)?]$/.test(text) ? "" : "."} See --help.`);
}

/** Normalises whatever was thrown: one code, one sentence, one exit code. */
export function toFailure(error: unknown): Failure {
  const known = isCandorError(error) ? error : (fromCommander(error) ?? fromSystem(error));
  if (known === undefined) {
    const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    const message = `${printable(text).slice(0, 300)}. This should not happen: please report it. Set DEBUG=candor to see where.`;
    return {
      code: "defect",
      message,
      exit: exitCodes.defect,
      json: { code: "defect", action: "ask-operator", message },
    };
  }
  const { code, action, path, details, exit } = known;
  const message = printable(known.message);
  const json = { code, action, message, ...(path === undefined ? {} : { path }), details: plain(details) };
  return { code, message, exit, json };
}
