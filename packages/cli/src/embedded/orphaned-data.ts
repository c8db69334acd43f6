import { existsSync } from "node:fs";
import { join } from "node:path";
import { CandorError, streams } from "@candor/contract";

/** True if a data folder holds streams, and not the operator that they belong to. */
export function isOrphaned(dataDir: string): boolean {
  const stored = join(dataDir, "jetstream", "LOG", "streams");
  const hasStreams = [streams.log, streams.verdicts].some((stream) => existsSync(join(stored, stream)));
  return hasStreams && !existsSync(join(dataDir, "auth", "operator"));
}

/** What is wrong with a data folder that has lost its operator. Nothing can make that one again. */
export function orphanedData(dataDir: string): CandorError {
  return new CandorError(
    "not-found",
    `${dataDir} holds streams, but the keys of their operator are gone (${join(dataDir, "auth", "operator")}), and no new operator can go on with them: restore that folder from a copy, or name another data folder.`,
    { path: dataDir },
  );
}
