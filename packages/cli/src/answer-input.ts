import { createReadStream } from "node:fs";
import { CandorError } from "@candor/contract";
import type { Terminal } from "./output/terminal.js";

/** The longest answer that is read, in bytes. */
const maxBytes = 64 * 1024 * 1024;

/**
 * Reads a subagent's answer.
 *
 * @param file undefined or `-` for standard input
 * @throws CandorError `too-large`, or `bad-file` if it is not UTF-8; a system error if the file can't be read
 */
export async function readAnswer(file: string | undefined, { note }: Terminal): Promise<string> {
  const isInput = file === undefined || file === "-";
  if (isInput && process.stdin.isTTY) note("Reading the answer from the keyboard; end it with Ctrl-D.");
  const name = isInput ? "standard input" : file;
  const stream: AsyncIterable<Buffer> = isInput ? process.stdin : createReadStream(file);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      throw new CandorError("too-large", `${name} holds more than 64 MiB: pass the subagent's answer alone.`);
    }
    chunks.push(chunk);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
  } catch (cause) {
    throw new CandorError("bad-file", `${name} is not UTF-8 text: save the answer as UTF-8.`, { cause });
  }
}
