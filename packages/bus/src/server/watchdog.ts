import { spawn, type ChildProcess } from "node:child_process";

/**
 * Reads until its input ends, which is when this process is gone however it ended, kill -9 included; then stops the
 * server, gently first. Being a shell it takes next to no memory, and it needs no signal that could get lost.
 */
const script = `read -r _
kill -TERM "$1" 2>/dev/null
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  kill -0 "$1" 2>/dev/null || exit 0
  sleep 0.1
done
kill -KILL "$1" 2>/dev/null`;

/** Sees to it that the process `pid` does not outlive this one. Kill the returned child once `pid` is gone. */
export function watchOver(pid: number): ChildProcess {
  // In a group of its own, so that Ctrl-C at a terminal does not take it away before its time.
  const watchdog = spawn("/bin/sh", ["-c", script, "candor-watchdog", String(pid)], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  watchdog.on("error", () => undefined);
  watchdog.stdin.on("error", () => undefined);
  watchdog.unref();
  return watchdog;
}
