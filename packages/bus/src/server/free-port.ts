import { randomInt } from "node:crypto";
import { createServer } from "node:net";
import { CandorError } from "@candor/contract";

/** Below the range that outgoing connections take their ports from, so that a port stays free while a server restarts. */
const lowest = 12_000;
const highest = 32_000;

/** True if a server could listen there now. */
export function isPortFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.on("error", () => {
      resolve(false);
    });
    probe.listen({ host, port, exclusive: true }, () => {
      probe.close(() => {
        resolve(true);
      });
    });
  });
}

/** A port that nobody listens on, from a range that nothing else draws from. @throws CandorError `port-taken` */
export async function freePort(host: string): Promise<number> {
  for (let attempt = 0; attempt < 50; attempt++) {
    const port = randomInt(lowest, highest);
    if (await isPortFree(host, port)) return port;
  }
  throw new CandorError("port-taken", `No free port was found on ${host} between ${lowest} and ${highest}.`);
}
