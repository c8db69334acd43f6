import { accessSync, constants, existsSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { join, resolve } from "node:path";
import { checkVersion, defaultCacheDir, isAtLeast, oldestServer } from "@candor/bus/server";
import { isCandorError } from "@candor/contract";
import { readCredentials } from "@candor/ledger/files";
import { listIdentities } from "../auth/auth-folder.js";
import { isOrphaned, orphanedData } from "../embedded/orphaned-data.js";
import { isMissing } from "../folder.js";
import { bytes } from "../output/bytes.js";
import { counted } from "../output/counted.js";
import { fail, ok, warn, type Check } from "./check.js";

const oldestNode = "20.19.0";
const tightBytes = 1024 ** 3;
const fullBytes = 64 * 1024 ** 2;

export function checkNode(version = process.versions.node): Check {
  return isAtLeast(version, oldestNode)
    ? ok("Node", version)
    : fail("Node", version, `Install Node ${oldestNode} or newer.`);
}

/** Looks where `candor up` would look, without fetching anything. */
export async function checkServerProgram({ CANDOR_NATS_SERVER: named = "" }: NodeJS.ProcessEnv): Promise<Check> {
  const what = "nats-server program";
  const places = named === "" ? ["nats-server", join(defaultCacheDir(), "nats-server")] : [named];
  const found = await Promise.all(places.map(async (path) => ({ path, version: await checkVersion(path) })));
  const good = found.find(({ version }) => version !== undefined && isAtLeast(version, oldestServer));
  if (good !== undefined) return ok(what, `${good.version ?? ""} (${good.path})`);
  const old = found.find(({ version }) => version !== undefined);
  if (named !== "") {
    const says = old === undefined ? "is none" : `is ${old.version ?? ""}, older than ${oldestServer}`;
    return fail(what, `${named} ${says}`, "Correct CANDOR_NATS_SERVER, or unset it.");
  }
  return warn(
    what,
    old === undefined ? "none yet" : `${old.version ?? ""}, older than ${oldestServer}`,
    '"candor up" fetches one when it first needs it.',
  );
}

/** Who can read and write the data folder, and how much room there is. */
export async function checkDataFolder(dataDir: string): Promise<readonly Check[]> {
  const what = "data folder";
  const folder = resolve(dataDir);
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    if (isMissing(error)) return [warn(what, `${folder} is not there yet`, '"candor up" makes it.')];
    return [
      fail(what, `${folder} can't be read and written`, "Correct its owner and rights, or name another with --data."),
    ];
  }
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  const room = `${bytes(free)} free`;
  if (free < fullBytes) return [ok(what, folder), fail("disk", room, "Make room: nothing more can be stored soon.")];
  if (free < tightBytes) return [ok(what, folder), warn("disk", room, "Make room before the log grows further.")];
  return [ok(what, folder), ok("disk", room)];
}

/** Every credentials folder that lies with the operator: whole, closed to others, and the one that the server is told of. */
export function checkCredentials(dataDir: string): readonly Check[] {
  const authDir = join(dataDir, "auth");
  if (isOrphaned(dataDir)) {
    const { code, message } = orphanedData(dataDir);
    return [fail("credentials", code, message)];
  }
  if (!existsSync(join(authDir, "operator")))
    return [warn("credentials", `none in ${authDir}`, '"candor up" or "candor auth init" makes them.')];
  const bad: Check[] = [];
  let good = 0;
  for (const { role, name, folder, connectionKey } of listIdentities(authDir)) {
    const what = `credentials of ${role} ${name}`;
    const renew = `"candor auth add ${role} ${name} --renew --dir ${authDir}" makes new ones`;
    if (folder === undefined) {
      bad.push(warn(what, "not here", `If no other machine has them either, ${renew}.`));
      continue;
    }
    try {
      if (readCredentials(folder).connectionKey === connectionKey) good += 1;
      else bad.push(fail(what, "the server is told of other keys", `${renew}.`));
    } catch (error) {
      if (!isCandorError(error)) throw error;
      bad.push(fail(what, error.code, error.message));
    }
  }
  return good === 0 ? bad : [ok("credentials", `${counted(good, "folder")}, closed to others`), ...bad];
}
