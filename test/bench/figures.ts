import { readFileSync } from "node:fs";

/** The value below which a share `p` (0..1) of the values lie. */
export function quantile(values: readonly number[], p: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

export function round(value: number, places: number): number {
  return Number(value.toFixed(places));
}

/** Clock ticks a second in `/proc/<pid>/stat`; 100 on every Linux that Node runs on. */
const ticksPerSecond = 100;

export interface ProcessUse {
  readonly cpuMs: number;
  /** The most memory it ever held. */
  readonly peakRssMiB: number;
}

/** What a process has used so far, from the kernel's books. */
export function processUse(pid: number): ProcessUse {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = Number(fields[11]) + Number(fields[12]);
  const peak = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return { cpuMs: (ticks / ticksPerSecond) * 1000, peakRssMiB: Number(peak?.[1] ?? 0) / 1024 };
}
