import { createReadStream, statSync } from "node:fs";
import { CandorError } from "@candor/contract";
import type { Terminal } from "./output/terminal.js";

const mebibyte = 1024 * 1024;

/** What is read, in words, and how much of it at most. */
export interface TextKind {
  /** Such as "the subagent's answer". */
  readonly what: string;
  readonly maxBytes: number;
}

/**
 * Reads a text.
 *
 * @param file undefined or `-` for standard input
 * @throws CandorError `too-large`, or `bad-file` if it is a folder or not UTF-8; a system error if the file can't be read
 */
export async function readText(file: string | undefined, kind: TextKind, { note }: Terminal): Promise<string> {
  const { what, maxBytes } = kind;
  const isInput = file === undefined || file === "-";
  if (isInput && process.stdin.isTTY) note(`Reading ${what} from the keyboard; end it with Ctrl-D.`);
  const name = isInput ? "standard input" : file;
  // Reading one fails with an error of the system that does not name it.
  if (!isInput && statSync(file).isDirectory()) {
    throw new CandorError("bad-file", `${file} is a folder: name the file that holds ${what}.`);
  }
  const stream: AsyncIterable<Buffer> = isInput ? process.stdin : createReadStream(file);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      throw new CandorError("too-large", `${name} holds more than ${maxBytes / mebibyte} MiB: pass ${what} alone.`);
    }
    chunks.push(chunk);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
  } catch (cause) {
    throw new CandorError("bad-file", `${name} is not UTF-8 text: save ${what} as UTF-8.`, { cause });
  }
}
