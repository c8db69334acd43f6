import { isConnected, type Bus } from "@candor/bus";
import type { ServerHandle } from "@candor/bus/server";
import { streams } from "@candor/contract";
import type { World } from "../kit/world.js";
import { until } from "./waiting.js";

/** Streams whose leaders guards depend on: what they read, and what they write. */
export type LedStream = typeof streams.log | typeof streams.verdicts;

interface Leadership {
  readonly leader: string;
  /** Every replica has all that is stored. */
  readonly isCurrent: boolean;
}

async function leadershipOf(operator: Bus, stream: LedStream): Promise<Leadership | undefined> {
  if (!isConnected(operator.nc)) return undefined;
  try {
    const { cluster } = await operator.jsm.streams.info(stream);
    const leader = cluster?.leader;
    if (leader === undefined || leader === "") return undefined;
    return {
      leader,
      isCurrent: cluster?.replicas?.every(({ current, offline }) => current && !offline) ?? true,
    };
  } catch {
    return undefined;
  }
}

async function leaderNode(world: World, operator: Bus, stream: LedStream, signal: AbortSignal): Promise<ServerHandle> {
  return until(signal, `a leader of ${stream}`, async () => {
    const found = await leadershipOf(operator, stream);
    return world.nodes.find(({ serverName }) => serverName === found?.leader);
  });
}

/** Waits until all replicas of both streams have everything, so that one more node may be lost. */
export async function untilCurrent(operator: Bus, signal: AbortSignal): Promise<void> {
  for (const stream of [streams.log, streams.verdicts]) {
    await until(
      signal,
      `all replicas of ${stream}`,
      async () => (await leadershipOf(operator, stream))?.isCurrent,
      100,
    );
  }
}

/**
 * Ends the node that leads a stream with SIGKILL, waits until another leads, starts it again, and waits until it has
 * caught up.
 */
export async function killLeader(world: World, operator: Bus, stream: LedStream, signal: AbortSignal): Promise<void> {
  const node = await leaderNode(world, operator, stream, signal);
  await node.kill();
  await until(signal, `another leader of ${stream}`, async () => {
    const found = await leadershipOf(operator, stream);
    return found !== undefined && found.leader !== node.serverName;
  });
  await node.restart();
  await untilCurrent(operator, signal);
}
