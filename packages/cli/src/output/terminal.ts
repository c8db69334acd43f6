import { createColors } from "picocolors";
import type { Stream } from "./whole-writes.js";

type Colors = ReturnType<typeof createColors>;

/** Where a command writes: results to stdout, all else to stderr. */
export interface Terminal {
  /** A result, with a newline added. */
  readonly out: (text: string) => void;
  /** A part of a result as it is. Resolves once it is written. */
  readonly bytes: (part: Uint8Array) => Promise<void>;
  /** Something said on the way, with a newline added. */
  readonly note: (text: string) => void;
  /** Colours for what goes to stdout; they do nothing in a pipe or under NO_COLOR. */
  readonly colors: Colors;
  /** True if progress on stderr may move the cursor. */
  readonly isLive: boolean;
  /** Width of stdout; undefined where there is none, as in a pipe. */
  readonly columns: number | undefined;
}

export interface TerminalOptions {
  readonly stdout: Stream;
  readonly stderr: Stream;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** A terminal over two streams. Colour and cursor movement only where a person looks on and did not ask for none. */
export function createTerminal({ stdout, stderr, environment }: TerminalOptions): Terminal {
  const { NO_COLOR: noColor = "", TERM: kind } = environment;
  const isPlain = noColor !== "" || kind === "dumb";
  return {
    out: (text) => {
      stdout.write(`${text}\n`);
    },
    bytes: (part) =>
      new Promise((resolve, reject) => {
        stdout.write(part, (error) => {
          if (error) reject(error);
          else resolve();
        });
      }),
    note: (text) => {
      stderr.write(`${text}\n`);
    },
    colors: createColors(stdout.isTTY === true && !isPlain),
    isLive: stderr.isTTY === true && !isPlain,
    columns: stdout.isTTY === true ? stdout.columns : undefined,
  };
}

/** Whoever reads our output may stop at any time, as `head` does: then there is nothing more to do and nothing wrong. */
export function endWithReader(streams: readonly NodeJS.WriteStream[]): void {
  for (const stream of streams) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      process.exit(error.code === "EPIPE" ? 0 : 70);
    });
  }
}
