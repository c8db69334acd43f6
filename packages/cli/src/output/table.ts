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

/** The last column is never wrapped below this many characters. */
const narrowest = 20;

function widths(rows: readonly (readonly string[])[]): number[] {
  const found: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) {
      found[index] = Math.max(found[index] ?? 0, stripVTControlCharacters(cell).length);
    }
  }
  return found;
}

/**
 * A table as text. Where a terminal is too narrow, the last column wraps.
 *
 * @param head titles of the columns; coloured as the terminal likes
 * @param rows cells, already coloured and safe to print
 */
export function table(terminal: Terminal, head: readonly string[], rows: readonly (readonly string[])[]): string {
  const natural = widths([head, ...rows]);
  const last = natural.pop() ?? 0;
  const before = natural.reduce((sum, width) => sum + width + gap.length, 0);
  const room = Math.max(narrowest, (terminal.columns ?? Infinity) - before);
  const wraps = last > room;
  const made = new CliTable({
    head: head.map((title) => terminal.colors.dim(title)),
    chars: blank,
    style: { head: [], border: [], "padding-left": 0, "padding-right": 0 },
    ...(wraps ? { colWidths: [...natural, room], wordWrap: true } : {}),
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
