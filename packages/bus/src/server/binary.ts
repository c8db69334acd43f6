import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { delimiter, dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { CandorError, silentLogger, type Logger } from "@candor/contract";

import { withDebianServer } from "./debian.js";
import { runCommand } from "./run-command.js";
import { isAtLeast, oldestServer, requireVersion } from "./version.js";

/** Oldest Go that builds the server. */
const oldestGo = "1.24.0";

export interface FindServerOptions {
  /** Where a fetched server is kept; by default `.cache/nats-server` of the checkout, else the user's cache folder. */
  readonly cacheDir?: string;
  readonly logger?: Logger;
}

/** A nats-server program that is new enough. */
export interface ServerBinary {
  readonly path: string;
  readonly version: string;
}

/**
 * Version of the nats-server program at `path`, like `2.15.1`; undefined if it is not there or is none.
 */
export async function checkVersion(path: string): Promise<string | undefined> {
  const { status, stdout } = await runCommand(path, ["--version"], { timeoutMs: 10_000 });
  return status === 0 ? /v?(\d+\.\d+\.\d+\S*)/.exec(stdout)?.[1] : undefined;
}

function checkoutRoot(): string | undefined {
  const here = fileURLToPath(import.meta.url);
  if (here.includes(`${sep}node_modules${sep}`)) return undefined;
  for (let folder = dirname(here); ; folder = dirname(folder)) {
    if (existsSync(join(folder, "pnpm-workspace.yaml"))) return folder;
    if (folder === dirname(folder)) return undefined;
  }
}

/** Folder where a fetched server is kept unless another is named. */
export function defaultCacheDir(): string {
  const root = checkoutRoot();
  if (root !== undefined) return join(root, ".cache", "nats-server");
  const { XDG_CACHE_HOME: cache } = process.env;
  return join(cache === undefined || cache === "" ? join(homedir(), ".cache") : cache, "candor", "nats-server");
}

async function fromPath(): Promise<ServerBinary | undefined> {
  for (const folder of (process.env["PATH"] ?? "").split(delimiter)) {
    const path = join(folder, "nats-server");
    if (folder === "" || !existsSync(path)) continue;
    const version = await checkVersion(path);
    if (version !== undefined && isAtLeast(version, oldestServer)) return { path, version };
  }
  return undefined;
}

/** The one that the environment names is taken or refused, never passed over. */
async function fromEnvironment(): Promise<ServerBinary | undefined> {
  const { CANDOR_NATS_SERVER: path } = process.env;
  if (path === undefined || path === "") return undefined;
  const version = await checkVersion(path);
  if (version === undefined) {
    throw new CandorError(
      "server-missing",
      `CANDOR_NATS_SERVER names ${path}, which is no nats-server program. Correct it or unset it.`,
    );
  }
  requireVersion(version, path);
  return { path, version };
}

/** Two processes may do this at once: each renames a whole file into place. */
async function keep(program: string, cached: string): Promise<ServerBinary | undefined> {
  const version = await checkVersion(program);
  if (version === undefined || !isAtLeast(version, oldestServer)) return undefined;
  await mkdir(dirname(cached), { recursive: true });
  const draft = `${cached}.${randomBytes(6).toString("hex")}`;
  await copyFile(program, draft);
  await rename(draft, cached);
  return { path: cached, version };
}

async function fromGo(cached: string, logger: Logger): Promise<ServerBinary | undefined> {
  const { stdout } = await runCommand("go", ["env", "GOVERSION"], { timeoutMs: 10_000 });
  if (!isAtLeast(stdout.trim().replace(/^go/, ""), oldestGo)) return undefined;
  const folder = await mkdtemp(join(tmpdir(), "candor-nats-server-"));
  try {
    logger.info({}, "building nats-server with Go");
    await runCommand("go", ["install", "github.com/nats-io/nats-server/v2@v2.12"], {
      env: { GOBIN: folder },
      timeoutMs: 600_000,
    });
    return await keep(join(folder, "nats-server"), cached);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Finds a nats-server that is new enough: the one that `CANDOR_NATS_SERVER` names, one on the PATH, one fetched
 * earlier, or else one fetched now, which takes a few seconds: from a Debian mirror, or built with Go.
 * Nothing is installed system-wide.
 *
 * @throws CandorError `server-missing` if there is none and none can be fetched; `server-too-old` if
 *   `CANDOR_NATS_SERVER` names one that is too old
 */
export async function findServer(options: FindServerOptions = {}): Promise<ServerBinary> {
  const { cacheDir = defaultCacheDir(), logger = silentLogger } = options;
  const cached = join(cacheDir, "nats-server");
  const found = (await fromEnvironment()) ?? (await fromPath());
  if (found !== undefined) return found;
  const version = await checkVersion(cached);
  if (version !== undefined && isAtLeast(version, oldestServer)) return { path: cached, version };
  const fetched =
    (await withDebianServer("sid", logger, (program) => keep(program, cached))) ?? (await fromGo(cached, logger));
  if (fetched !== undefined) {
    logger.info({ ...fetched }, "nats-server is ready");
    return fetched;
  }
  throw new CandorError(
    "server-missing",
    `There is no nats-server ${oldestServer} or newer on the PATH, and none could be fetched. Install one ("brew install nats-server", "docker run nats:latest -js", or a release from https://github.com/nats-io/nats-server/releases) or name it in CANDOR_NATS_SERVER.`,
    { details: { oldest: oldestServer } },
  );
}
