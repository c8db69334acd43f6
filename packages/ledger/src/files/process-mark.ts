import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** Which process holds something, told so that a later process with the same number is not taken for it. */
export interface ProcessMark {
  readonly pid: number;
  /** Start time in ticks since boot, where the platform tells it. */
  readonly startedAt?: string;
  readonly host: string;
  readonly boot?: string;
  /** Namespace in which the process number counts. */
  readonly space?: string;
}

function tryRead(read: () => string): string | undefined {
  try {
    return read().trim();
  } catch {
    return undefined;
  }
}

/** Field 22 of `/proc/<pid>/stat`; the name in field 2 may hold blanks and brackets, so counting begins after it. */
function startOf(pid: number): string | undefined {
  const stat = tryRead(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
  return stat?.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
}

function present<K extends string>(name: K, value: string | undefined): Partial<Record<K, string>> {
  return value === undefined ? {} : ({ [name]: value } as Record<K, string>);
}

/** The mark of this process. */
export function ownMark(): ProcessMark {
  return {
    pid: process.pid,
    host: hostname(),
    ...present("startedAt", startOf(process.pid)),
    ...present(
      "boot",
      tryRead(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8")),
    ),
    ...present(
      "space",
      tryRead(() => readlinkSync("/proc/self/ns/pid")),
    ),
  };
}

function answers(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Somebody else's process may not be signalled, but it is there.
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

/** True only if the marked process is certainly gone: what can't be seen from here counts as alive. */
export function isGone(mark: ProcessMark, own: ProcessMark = ownMark()): boolean {
  if (mark.host !== own.host) return false;
  if (mark.boot !== undefined && own.boot !== undefined && mark.boot !== own.boot) return true;
  if (mark.space !== own.space) return false;
  if (!answers(mark.pid)) return true;
  const startedAt = startOf(mark.pid);
  return mark.startedAt !== undefined && startedAt !== undefined && startedAt !== mark.startedAt;
}
