import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { CandorError } from "@candor/contract";
import { z } from "zod";
import { jsonOf } from "./http-client.js";

const urlLine = z.object({ url: z.url() });

/** Files to run, beside this one in the built output. */
const mains = { inventory: "inventory-main.js", payment: "payment-main.js" } as const;
export type ServiceName = keyof typeof mains;

export interface SpawnOptions {
  /** Flags of the service, like `["--latency-ms", "800"]`. */
  readonly args?: readonly string[];
  /** Called with every JSON line that the service prints after its URL. */
  readonly onLine?: (value: unknown) => void;
  readonly signal?: AbortSignal;
}

export interface SpawnedService {
  readonly url: string;
  readonly pid: number;
  /** Ends the process and waits until it is gone; SIGTERM unless told otherwise. */
  stop(signal?: "SIGTERM" | "SIGKILL"): Promise<void>;
}

/**
 * Starts a service as a process of its own and waits until it listens. It ends with this process, however that ends.
 *
 * @param folder where the built files are; the folder of this file by default.
 * @throws CandorError `server-failed`, with what the service said, when it ends before it listens.
 */
export async function spawnService(
  name: ServiceName,
  options: SpawnOptions = {},
  folder: URL = new URL(".", import.meta.url),
): Promise<SpawnedService> {
  const { args = [], onLine, signal } = options;
  signal?.throwIfAborted();
  const main = fileURLToPath(new URL(mains[name], folder));
  const child = spawn(process.execPath, [main, ...args], { stdio: ["ignore", "pipe", "pipe", "ipc"] });
  const gone = once(child, "exit").catch(() => undefined);
  const stop = async (kind: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<void> => {
    child.kill(kind);
    await gone;
  };
  const abort = (): void => void child.kill("SIGKILL");
  signal?.addEventListener("abort", abort, { once: true });
  try {
    const url = await urlOf(name, child, onLine);
    return { url, pid: child.pid ?? 0, stop };
  } catch (error) {
    await stop("SIGKILL");
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener("abort", abort);
  }
}

function urlOf(name: ServiceName, child: ChildProcess, onLine?: (value: unknown) => void): Promise<string> {
  const said: string[] = [];
  child.stderr?.on("data", (chunk: Buffer) => said.push(chunk.toString("utf8")));
  return new Promise((resolve, reject) => {
    const fail = (cause?: unknown): void => {
      const reason = said.join("").trim() || "it said nothing";
      reject(new CandorError("server-failed", `${name} service did not start: ${reason}`, { cause }));
    };
    child.once("error", fail);
    child.once("close", () => {
      fail();
    });
    if (child.stdout === null) return;
    createInterface({ input: child.stdout }).on("line", (line) => {
      const value = jsonOf(line);
      const first = urlLine.safeParse(value);
      if (first.success) resolve(first.data.url);
      else onLine?.(value);
    });
  });
}
