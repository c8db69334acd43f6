import { CandorError } from "@candor/contract";
import { Listr } from "listr2";
import { liveOptions } from "./progress.js";
import type { Terminal } from "./terminal.js";

/** Says where a row stands; with an end it is the last word. */
export type Tell = (row: string, text: string, end?: "right" | "wrong") => void;

export interface BoardRow {
  /** Stands before what is said where nobody looks on. */
  readonly id: string;
  readonly title: string;
}

/** Where nobody looks on, a row says the same with other numbers no more often than this. */
const quietMs = 2_000;
const numbers = /\d+/g;

function plainTell(terminal: Terminal): Tell {
  const said = new Map<string, { readonly words: string; readonly atMs: number }>();
  return (row, text, end) => {
    const atMs = performance.now();
    const words = text.replace(numbers, "");
    const last = said.get(row);
    if (end === undefined && last?.words === words && atMs - last.atMs < quietMs) return;
    said.set(row, { words, atMs });
    terminal.note(`${row}: ${text}`);
  };
}

/** One row on a live board. */
class LiveRow {
  readonly ended: Promise<void>;
  show: (text: string) => void = () => undefined;
  end: (outcome: "right" | "wrong") => void = () => undefined;

  constructor() {
    this.ended = new Promise((resolve, reject) => {
      this.end = (outcome) => {
        if (outcome === "right") resolve();
        else reject(new CandorError("undecided", "This row ended badly."));
      };
    });
    // Shown by the list, if it gets that far.
    this.ended.catch(() => undefined);
  }
}

/**
 * Runs something in which several things go on at once, and shows on stderr how each goes: live on a terminal, else a line
 * now and then. A terminal is as it was when it has ended.
 *
 * @throws whatever `run` throws
 */
export async function withBoard<T>(
  terminal: Terminal,
  rows: readonly BoardRow[],
  run: (tell: Tell) => Promise<T>,
): Promise<T> {
  if (!terminal.isLive) return run(plainTell(terminal));
  const live = new Map(rows.map(({ id }) => [id, new LiveRow()]));
  const list = new Listr(
    rows.map(({ id, title }) => ({
      title,
      task: async (_, task) => {
        const row = live.get(id);
        if (row === undefined) return;
        row.show = (text) => {
          task.title = `${title}: ${text}`;
        };
        await row.ended;
      },
    })),
    { ...liveOptions(), concurrent: true, exitOnError: false },
  );
  const shown = list.run();
  try {
    return await run((id, text, end) => {
      const row = live.get(id);
      row?.show(text);
      if (end !== undefined) row?.end(end);
    });
  } finally {
    for (const row of live.values()) row.end("wrong");
    await shown;
  }
}
