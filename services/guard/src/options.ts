import { parseArgs } from "node:util";
import { CandorError } from "@candor/contract";

const levels = ["debug", "info", "warn", "error", "silent"] as const;
type LogLevel = (typeof levels)[number];

export interface MainOptions {
  /** Addresses of the servers; those of the credentials folder if none are given. */
  readonly servers: readonly string[] | undefined;
  readonly credentials: string;
  /** As in `readLanes`. */
  readonly lanes: string;
  readonly logLevel: LogLevel;
  /** Shown in logs and in the state API; the identity's own name by default. */
  readonly name: string | undefined;
  /** End when the standard input closes, so that no guard outlives the process that started it. */
  readonly parentWatch: boolean;
  readonly help: boolean;
}

export const usage = `Usage: candor-guard --credentials DIR [options]

Folds lanes of the log and publishes verdicts. Any number of guards may run the same lanes.

Options                     Environment
  --servers URL[,URL]       CANDOR_SERVERS       addresses of the NATS servers; the credentials may name them
  --credentials DIR         CANDOR_CREDENTIALS   folder of a guard identity, from "candor auth add guard NAME"
  --lanes LIST              CANDOR_LANES         "all" (default), or numbers and ranges like 0,3,8-11
  --log-level LEVEL         CANDOR_LOG_LEVEL     ${levels.join(", ")}; info by default
  --name NAME               CANDOR_GUARD_NAME    name in logs and the state API; the identity's by default
  --parent-watch            CANDOR_PARENT_WATCH  end when the standard input closes
  --help
`;

function usageError(message: string, path: string): CandorError {
  return new CandorError("bad-argument", `${message} See candor-guard --help.`, { path });
}

function isLevel(text: string): text is LogLevel {
  return (levels as readonly string[]).includes(text);
}

function parse(args: readonly string[]): ReturnType<typeof parseTyped> {
  try {
    return parseTyped(args);
  } catch (error) {
    throw usageError(error instanceof Error ? `${error.message}.` : "The options can't be read.", "options");
  }
}

function parseTyped(args: readonly string[]) {
  return parseArgs({
    args: [...args],
    options: {
      servers: { type: "string" },
      credentials: { type: "string" },
      lanes: { type: "string" },
      "log-level": { type: "string" },
      name: { type: "string" },
      "parent-watch": { type: "boolean" },
      help: { type: "boolean" },
    },
  }).values;
}

/**
 * Reads the guard's options: the command line first, then the environment.
 * @throws CandorError `bad-argument`
 */
export function readOptions(args: readonly string[], env: Readonly<NodeJS.ProcessEnv>): MainOptions {
  const given = parse(args);
  const help = given.help ?? false;
  const credentials = given.credentials ?? env["CANDOR_CREDENTIALS"] ?? "";
  if (credentials === "" && !help) {
    throw usageError(
      "The guard needs its credentials: pass --credentials DIR or set CANDOR_CREDENTIALS.",
      "credentials",
    );
  }
  const logLevel = given["log-level"] ?? env["CANDOR_LOG_LEVEL"] ?? "info";
  if (!isLevel(logLevel)) {
    throw usageError(`${JSON.stringify(logLevel)} is no log level: use ${levels.join(", ")}.`, "log-level");
  }
  const servers = (given.servers ?? env["CANDOR_SERVERS"] ?? "").split(",").map((url) => url.trim());
  return {
    servers: servers.every((url) => url === "") ? undefined : servers.filter((url) => url !== ""),
    credentials,
    lanes: given.lanes ?? env["CANDOR_LANES"] ?? "all",
    logLevel,
    name: given.name ?? env["CANDOR_GUARD_NAME"],
    parentWatch: given["parent-watch"] ?? ["1", "true"].includes(env["CANDOR_PARENT_WATCH"] ?? ""),
    help,
  };
}
