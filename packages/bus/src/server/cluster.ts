import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { freePort } from "./free-port.js";
import { launchServer, type LaunchOptions, type ServerHandle } from "./launcher.js";

export interface ClusterOptions extends Omit<LaunchOptions, "port" | "cluster" | "serverName"> {
  /** Number of members, 3 by default. */
  readonly size?: number;
}

async function distinctPorts(host: string, count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort(host));
  return [...ports];
}

/**
 * Starts several servers of one cluster on this machine, each with a folder `node-1` … of its own in `dataDir`, all with
 * the same authorization file. They answer JetStream requests once they have elected a leader, which `applyStreams`
 * waits for.
 *
 * @throws CandorError as `launchServer`
 */
export async function launchCluster(options: ClusterOptions): Promise<ServerHandle[]> {
  const { size = 3, host = "127.0.0.1", dataDir } = options;
  const name = `candor-${randomBytes(4).toString("hex")}`;
  const members = await distinctPorts(host, size);
  const launched = await Promise.allSettled(
    members.map((port, index) =>
      launchServer({
        ...options,
        dataDir: join(dataDir, `node-${index + 1}`),
        serverName: `${name}-${index + 1}`,
        cluster: { name, port, members },
      }),
    ),
  );
  const servers = launched.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const failed = launched.find((one) => one.status === "rejected");
  if (failed === undefined) return servers;
  await Promise.all(servers.map((server) => server.kill()));
  throw failed.reason;
}
