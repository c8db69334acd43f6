import { open, stat } from "node:fs/promises";
import { CandorError, type ErrorCode } from "@candor/contract";

/** Size of the log now: where the next run's lines will begin. */
export async function logEnd(file: string): Promise<number> {
  return (await stat(file).catch(() => undefined))?.size ?? 0;
}

/** What was logged from `start` on. */
export async function logSince(file: string, start: number): Promise<string> {
  const handle = await open(file, "r").catch(() => undefined);
  if (handle === undefined) return "";
  try {
    const length = Math.max(0, (await handle.stat()).size - start);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, start);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** The last lines that say what went wrong, without process id and time. */
export function essence(log: string): string {
  const lines = log.split("\n").filter((line) => /\[(FTL|ERR)\]|^nats-server: |^panic: /.test(line));
  const plain = lines.map((line) =>
    line
      .replace(/^.*\[(FTL|ERR)\]\s*/, "")
      .replace(/^nats-server: /, "")
      .trim(),
  );
  return [...new Set(plain)].slice(-3).join("; ");
}

/** What the server's last words mean; the first row that fits. */
const causes: readonly { readonly says: RegExp; readonly code: ErrorCode; readonly advice: string }[] = [
  {
    says: /address already in use/i,
    code: "port-taken",
    advice: "Another program uses the port: stop it, or choose another port.",
  },
  {
    says: /permission denied|read-only file system|operation not permitted/i,
    code: "folder-not-writable",
    advice: "The server can't write its data folder: choose another, or correct its owner and rights.",
  },
  {
    says: /no space left/i,
    code: "store-full",
    advice: "The disk is full: make room, or choose another data folder.",
  },
];

/** The error for a server that ended, or that never became ready. */
export function serverFailure(log: string, logFile: string, what: string): CandorError {
  const words = essence(log);
  const cause = causes.find(({ says }) => says.test(words));
  const advice = cause?.advice ?? "Its configuration or its data may be damaged.";
  const said = words === "" ? "It logged no reason." : `It said: ${words}.`;
  return new CandorError(
    cause?.code ?? "server-failed",
    `nats-server ${what}. ${said} ${advice} Its log is ${logFile}.`,
  );
}
