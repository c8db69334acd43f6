import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Bus, IdentityRole } from "@candor/bus";
import { CandorError } from "@candor/contract";
import { readCredentials, type Credentials } from "@candor/ledger/files";
import type { Command } from "commander";
import { credentialsFolder } from "./auth/auth-folder.js";
import { readRecords } from "./auth/identity-record.js";
import type { Context } from "./context.js";
import { requireReadable } from "./folder.js";
import { connectAs, type ConnectAsOptions } from "./embedded/connect.js";
import { livePlace } from "./embedded/place.js";

/** How a command is told where the server is and who asks. */
export interface PlaceOptions {
  readonly data?: string;
  readonly server?: string;
  readonly credentials?: string;
}

/** Who asks, and whom. */
export interface Located {
  readonly credentials: Credentials;
  readonly servers: readonly string[];
  /** The data folder, if it is one of `candor up`. */
  readonly dataDir: string | undefined;
  /** Tells people, on stderr, what is waited for. */
  readonly say: (text: string) => void;
}

/** The data folder that is meant when none is named. */
export function defaultDataDir({ environment }: Context): string {
  const { CANDOR_DATA: dir = "" } = environment;
  return dir === "" ? "candor-data" : dir;
}

/** Adds the options that `locate` reads. */
export function withPlaceOptions(command: Command): Command {
  return command
    .option("--data <dir>", 'data folder of a running "candor up" (default: candor-data, or CANDOR_DATA)')
    .option("--server <urls>", "addresses of another server (or CANDOR_SERVERS)")
    .option("--credentials <dir>", "credentials folder to connect with (or CANDOR_CREDENTIALS)");
}

function filled(text: string | undefined): string | undefined {
  return text === undefined || text === "" ? undefined : text;
}

function ownCredentials(folder: string, roles: readonly IdentityRole[]): Credentials {
  const credentials = readCredentials(folder);
  if (roles.includes(credentials.role)) return credentials;
  throw new CandorError(
    "bad-argument",
    `${folder} holds the credentials of ${credentials.role} ${credentials.name}, and this takes those of ${roles.join(" or ")}.`,
    { path: "credentials" },
  );
}

/** The first identity of the first of the roles that the data folder holds credentials of. */
function credentialsIn(dataDir: string, roles: readonly IdentityRole[], name: string | undefined): Credentials {
  const authDir = join(dataDir, "auth");
  const records = readRecords(authDir);
  for (const role of roles) {
    const found = records
      .filter((record) => record.role === role && (name === undefined || record.name === name))
      .map((record) => credentialsFolder(authDir, record))
      .find((folder) => existsSync(folder));
    if (found !== undefined) return readCredentials(found);
  }
  throw new CandorError(
    "not-found",
    `${dataDir} holds no credentials of ${roles.join(" or ")}${name === undefined ? "" : ` ${name}`}: name a folder with --credentials, or another data folder with --data.`,
    { path: dataDir },
  );
}

/**
 * Finds out where the server is and with whose credentials to ask it.
 *
 * @param roles who may ask, in order of preference
 * @param name of the identity, where it matters
 * @throws CandorError `not-found`, `server-unreachable` if nothing runs there, or as `readCredentials`
 */
export async function locate(
  context: Context,
  options: PlaceOptions,
  roles: readonly IdentityRole[],
  name?: string,
): Promise<Located> {
  const { CANDOR_SERVERS, CANDOR_CREDENTIALS } = context.environment;
  const folder = options.credentials ?? (options.data === undefined ? filled(CANDOR_CREDENTIALS) : undefined);
  const dataDir = resolve(
    options.data ?? (folder === undefined ? defaultDataDir(context) : dirname(dirname(resolve(folder)))),
  );
  if (folder === undefined) requireReadable(dataDir);
  const named = options.server ?? (options.data === undefined ? filled(CANDOR_SERVERS) : undefined);
  const place = await livePlace(dataDir);
  if (folder === undefined && named === undefined && place === undefined) throw nothingRuns(dataDir);
  const credentials = folder === undefined ? credentialsIn(dataDir, roles, name) : ownCredentials(folder, roles);
  const servers =
    named?.split(",").map((url) => url.trim()) ?? (place === undefined ? credentials.servers : [place.url]);
  if (servers === undefined || servers.length === 0) throw nothingRuns(dataDir);
  return {
    credentials,
    servers,
    dataDir: place === undefined ? undefined : dataDir,
    say: (text) => {
      context.terminal.note(text);
    },
  };
}

function nothingRuns(dataDir: string): CandorError {
  return new CandorError(
    "server-unreachable",
    `No server runs on ${dataDir}: start it with "candor up --data ${dataDir}", or name one with --server and --credentials.`,
    { path: dataDir },
  );
}

/**
 * Connects to where `locate` found, hands the connection over, and closes it whatever happens.
 *
 * @throws CandorError as `locate` and `connectBus`
 */
export async function withConnection<T>(
  located: Pick<Located, "credentials" | "servers"> & Partial<Pick<Located, "say">>,
  use: (bus: Bus) => Promise<T>,
  options: ConnectAsOptions = {},
): Promise<T> {
  const onSlow = (): void => located.say?.(`candor: waiting for the server at ${located.servers.join(", ")}`);
  const bus = await connectAs(located.credentials, located.servers, { onSlow, ...options });
  try {
    return await use(bus);
  } finally {
    await bus.close();
  }
}
