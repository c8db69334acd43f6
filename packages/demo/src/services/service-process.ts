import { isCandorError } from "@candor/contract";
import type { LocalService } from "./http-server.js";

/** Writes one JSON value as a line on standard output. */
export function printLine(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

/**
 * Runs a service as this process: prints `{"url":"http://127.0.0.1:…"}` once it listens, stops at SIGTERM or
 * SIGINT, and when the parent that forked it is gone. A service that cannot start is one line on
 * standard error and the exit code that goes with its error.
 */
export async function runAsProcess(start: () => Promise<LocalService>): Promise<void> {
  // A parent that stopped reading is no reason to stop serving.
  process.stdout.on("error", () => undefined);
  try {
    const service = await start();
    const stop = (): void => {
      void service.close().then(() => {
        process.exit();
      });
    };
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, stop);
    if (process.connected) process.once("disconnect", stop);
    printLine({ url: service.url });
  } catch (error) {
    const [code, exit] = isCandorError(error) ? [error.code, error.exit] : ["defect", 70];
    process.stderr.write(`${code}: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(exit);
  }
}
