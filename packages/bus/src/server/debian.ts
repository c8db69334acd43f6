import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Logger } from "@candor/contract";
import { runCommand } from "./run-command.js";

/** A Debian mirror that this machine's apt is set up with, and the keyring it trusts for it. */
export interface Mirror {
  readonly uri: string;
  readonly keyring: string | undefined;
}

const debianKeyrings = [
  "/usr/share/keyrings/debian-archive-keyring.gpg",
  "/usr/share/keyrings/debian-archive-keyring.pgp",
];

/** The keyring that the n-th entry of a sources file is signed by: `Signed-By:` of a stanza, `[signed-by=…]` of a line. */
export function signedBy(sources: string, isStanzas: boolean, entry: number): string | undefined {
  if (!isStanzas) return /\bsigned-by=([^\s\]]+)/i.exec(sources.split("\n")[entry - 1] ?? "")?.[1];
  const stanzas = sources.split(/\n\s*\n/).filter((stanza) => /^Types:/im.test(stanza));
  return /^Signed-By:[ \t]*(\/\S+)/im.exec(stanzas[entry - 1] ?? "")?.[1];
}

/** Mirrors of the machine's own apt configuration, even if its package lists were never loaded. */
async function findMirrors(): Promise<Mirror[]> {
  const listed = await runCommand("apt-get", [
    "indextargets",
    "--no-release-info",
    "--format",
    "$(REPO_URI) $(SOURCESENTRY)",
    "Identifier: Packages",
  ]);
  const mirrors = new Map<string, Mirror>();
  for (const line of listed.stdout.split("\n")) {
    const [uri, entry] = line.trim().split(" ");
    if (uri === undefined || uri === "" || mirrors.has(uri)) continue;
    const [, file = "", number = ""] = /^(.*):(\d+)$/.exec(entry ?? "") ?? [];
    const sources = await readFile(file, "utf8").catch(() => "");
    const keyring = signedBy(sources, file.endsWith(".sources"), Number(number));
    mirrors.set(uri, { uri, keyring: keyring ?? debianKeyrings.find((path) => existsSync(path)) });
  }
  return [...mirrors.values()];
}

/** Options that keep apt inside `folder` and deaf to the machine's own lists and pins. */
function aptOptions(folder: string, sourceList: string): string[] {
  const options = {
    "Dir::Etc::sourcelist": sourceList,
    "Dir::Etc::sourceparts": "/dev/null",
    "Dir::Etc::preferences": "/dev/null",
    "Dir::Etc::preferencesparts": "/dev/null",
    "Dir::State::Lists": join(folder, "lists"),
    "Dir::Cache": join(folder, "cache"),
    "Dir::Cache::pkgcache": "",
    "Dir::Cache::srcpkgcache": "",
    "Debug::NoLocking": "true",
    "Acquire::Languages": "none",
    "Acquire::Retries": "2",
    // The temporary folder is ours alone, so apt's own unprivileged user could not write into it.
    ...(process.getuid?.() === 0 ? { "APT::Sandbox::User": "root" } : {}),
  };
  return Object.entries(options).flatMap(([name, value]) => ["-o", `${name}=${value}`]);
}

async function unpackFrom(mirror: Mirror, suite: string, folder: string): Promise<string | undefined> {
  const sourceList = join(folder, "sources.list");
  const trust = mirror.keyring === undefined ? "" : `[signed-by=${mirror.keyring}] `;
  await writeFile(sourceList, `deb ${trust}${mirror.uri} ${suite} main\n`);
  for (const part of ["lists/partial", "cache/archives/partial"]) await mkdir(join(folder, part), { recursive: true });
  const options = aptOptions(folder, sourceList);
  // Its exit code also tells of the machine's own hooks, so only the download's counts.
  await runCommand("apt-get", [...options, "update"], { cwd: folder });
  const download = await runCommand("apt-get", [...options, "download", "nats-server"], { cwd: folder });
  const archive = (await readdir(folder)).find((name) => name.endsWith(".deb"));
  if (download.status !== 0 || archive === undefined) return undefined;
  const unpacked = await runCommand("dpkg", ["-x", archive, "unpacked"], { cwd: folder });
  return unpacked.status === 0 ? join(folder, "unpacked", "usr", "sbin", "nats-server") : undefined;
}

/**
 * Fetches nats-server as a Debian package without installing anything: private lists and caches in a temporary
 * folder, the mirror and keyring of the machine's own apt configuration, no root needed.
 *
 * @param suite Debian suite, `sid` for a server that is new enough
 * @param use called with the unpacked program, which is gone afterwards
 * @returns what `use` returned, or undefined if this is no Debian or no mirror of it has the package
 */
export async function withDebianServer<T>(
  suite: string,
  logger: Logger,
  use: (program: string) => Promise<T>,
): Promise<T | undefined> {
  for (const mirror of await findMirrors()) {
    const folder = await mkdtemp(join(tmpdir(), "candor-nats-server-"));
    try {
      logger.info({ suite }, "fetching nats-server from this machine's Debian mirror");
      const program = await unpackFrom(mirror, suite, folder);
      if (program === undefined || !existsSync(program)) continue;
      await chmod(program, 0o755);
      return await use(program);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
  return undefined;
}
