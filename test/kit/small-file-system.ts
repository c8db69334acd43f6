import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A file system of its own that can be filled without harm. */
export interface SmallFileSystem {
  readonly dir: string;
  readonly remove: () => void;
}

/**
 * Mounts one in memory; a text that says why where this machine does not let us.
 *
 * @param mebibytes its size
 */
export function mountSmall(mebibytes: number): SmallFileSystem | string {
  const dir = mkdtempSync(join(tmpdir(), "candor-small-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${mebibytes}m`, "candor-test", dir], { stdio: "pipe" });
  } catch (error) {
    rmSync(dir, { recursive: true });
    const why = error instanceof Error ? (error.message.split("\n").at(1) ?? error.message) : String(error);
    return `no small file system can be mounted here: ${why}`;
  }
  return {
    dir,
    remove: () => {
      // Lazily: a process that is still ending may have files open.
      execFileSync("umount", ["-l", dir]);
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
