const units = ["B", "KiB", "MiB", "GiB", "TiB"] as const;

/** A number of bytes for people. */
export function bytes(count: number): string {
  let size = count;
  let unit = 0;
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? size : size.toFixed(1)} ${units[unit] ?? ""}`;
}
