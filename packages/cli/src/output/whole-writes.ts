import { fstatSync, writeSync } from "node:fs";
import { CandorError } from "@candor/contract";

/** What a terminal needs of a stream. */
export type Stream = Pick<NodeJS.WriteStream, "write"> & { readonly isTTY?: boolean; readonly columns?: number };

type Done = (error?: Error | null) => void;

const noRoom: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

/**
 * Standard output that writes all of it or throws. Node's own, where it is a file, tries once and takes what got there for
 * all, so that on a full disk a command ends well and its output is cut.
 *
 * @throws CandorError from `write`: `store-full` where there is no room, `folder-not-writable`
 */
export function wholeWrites(stream: NodeJS.WriteStream & { readonly fd: number }): Stream {
  // With big integers, since node's resolver of modules (realpathSync) looks at what the last look without them found: behind
  // that of a pipe it follows no symbolic links.
  const kind = fstatSync(stream.fd, { bigint: true });
  if (stream.isTTY || kind.isFIFO() || kind.isSocket()) return stream;
  const write = (chunk: Uint8Array | string, ...rest: readonly (Done | BufferEncoding | undefined)[]): boolean => {
    const bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
    try {
      for (let done = 0; done < bytes.length;) done += writeSync(stream.fd, bytes, done);
    } catch (cause) {
      throw failed(cause);
    }
    const written = rest.at(-1);
    if (typeof written === "function") written();
    return true;
  };
  return { write };
}

function failed(cause: unknown): CandorError {
  const code = (cause as NodeJS.ErrnoException).code ?? "unknown";
  return noRoom.has(code)
    ? new CandorError("store-full", "The output can't be written, since there is no room for it: what is there is cut.", { cause }) // prettier-ignore
    : new CandorError("folder-not-writable", `The output can't be written (${code}): what is there may be cut.`, { cause }); // prettier-ignore
}
