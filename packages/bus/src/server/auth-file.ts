import { randomBytes } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CandorError } from "@candor/contract";
import { authorizationConfig, type ServerIdentity } from "./authorization.js";

/**
 * Writes the server's authorization file `auth.conf` into `dir`, in one step: a server that reloads at any moment reads
 * the old file or the new one. Holds public keys only.
 *
 * @returns the file's path, and whether its content is new, in which case the server should reload
 * @throws CandorError `bad-argument` and `bad-key` as `authorizationConfig`; `folder-not-writable`
 */
export async function writeAuthorization(
  dir: string,
  identities: readonly ServerIdentity[],
): Promise<{ readonly file: string; readonly changed: boolean }> {
  const text = authorizationConfig(identities);
  const file = join(dir, "auth.conf");
  if ((await readFile(file, "utf8").catch(() => undefined)) === text) return { file, changed: false };
  const draft = `${file}.${randomBytes(6).toString("hex")}`;
  try {
    await mkdir(dir, { recursive: true });
    await writeFile(draft, text, { mode: 0o644 });
    await rename(draft, file);
    return { file, changed: true };
  } catch (cause) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw new CandorError(
      "folder-not-writable",
      `The authorization file ${file} can't be written: choose another folder, or correct its owner and rights.`,
      { cause },
    );
  }
}
