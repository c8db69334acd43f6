import { stripVTControlCharacters } from "node:util";
import CliTable from "cli-table3";
import type { Terminal } from "./terminal.js";

const gap = "  ";

/** Columns are set apart by blanks alone, so that a table reads as well in a pipe. */
const blank = {
  top: "",
  "top-mid": "",
  "top-left": "",
  "top-right": "",
  bottom: "",
  "bottom-mid": "",
  "bottom-left": "",
  "bottom-right": "",
  left: "",
  "left-mid": "",
  mid: "",
  "mid-mid": "",
  right: "",
  "right-mid": "",
  middle: gap,
} as const;

/** The column that wraps is never narrower than this many characters. */
const narrowest = 20;

function widths(rows: readonly (readonly string[])[]): number[] {
  const found: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) {
      const lines = stripVTControlCharacters(cell).split("\n");
      found[index] = Math.max(found[index] ?? 0, ...lines.map((line) => line.length));
    }
  }
  return found;
}

/**
 * A table as text. Where a terminal is too narrow, one column wraps.
 *
 * @param head titles of the columns; coloured as the terminal likes
 * @param rows cells, already coloured and safe to print
 * @param wrapping index of the column that wraps; the last by default
 */
export function table(
  terminal: Terminal,
  head: readonly string[],
  rows: readonly (readonly string[])[],
  wrapping = head.length - 1,
): string {
  const natural = widths([head, ...rows]);
  const wanted = natural[wrapping] ?? 0;
  const others = natural.reduce((sum, width) => sum + width + gap.length, 0) - wanted - gap.length;
  const room = Math.max(narrowest, (terminal.columns ?? Infinity) - others);
  const wraps = wanted > room;
  const made = new CliTable({
    head: head.map((title) => terminal.colors.dim(title)),
    chars: blank,
    style: { head: [], border: [], "padding-left": 0, "padding-right": 0 },
    ...(wraps ? { colWidths: natural.with(wrapping, room), wordWrap: true } : {}),
  });
  for (const row of rows) made.push([...row]);
  return made
    .toString()
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n");
}

/** Names and values below each other. */
export function listing(terminal: Terminal, entries: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(0, ...entries.map(([name]) => name.length));
  return entries.map(([name, value]) => `${terminal.colors.dim(name.padEnd(width))}  ${value}`).join("\n");
}
