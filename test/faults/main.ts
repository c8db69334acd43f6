import { setTimeout as pause } from "node:timers/promises";
import { isCandorError, silentLogger } from "@candor/contract";
import { startWorld, type World } from "../kit/world.js";
import { runEffectChaos } from "./effect-chaos.js";
import { effectCases } from "./effect-points.js";
import { effectTable } from "./effect-table.js";
import { isFenceChaosGood, runFenceChaos } from "./fence-chaos.js";
import { isGuardChaosGood, runGuardChaos } from "./guard-chaos.js";
import { readOptions, usage, type ChaosOptions } from "./options.js";
import { randomFrom } from "./random.js";
import { unlessAborted } from "./waiting.js";

const exitOf = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
type Wish = keyof typeof exitOf;

const longestEndMs = 10_000;

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Prints figures. @returns the exit code that they call for */
function conclude(figures: object, good: boolean): number {
  process.stdout.write(`${JSON.stringify(figures)}\n`);
  return good ? 0 : 1;
}

async function runGuard(
  options: Extract<ChaosOptions, { command: "guard" }>,
  world: World,
  signal: AbortSignal,
): Promise<number> {
  const random = randomFrom(options.seed);
  const figures = await runGuardChaos(world, { ...options, random, signal, say, logger: silentLogger });
  return conclude({ ...figures, seed: options.seed }, isGuardChaosGood(figures, options));
}

async function runFence(
  options: Extract<ChaosOptions, { command: "fence" }>,
  world: World,
  signal: AbortSignal,
): Promise<number> {
  const figures = await runFenceChaos(world, { ...options, signal, say, logger: silentLogger });
  return conclude(figures, isFenceChaosGood(figures, options));
}

async function runEffect(
  options: Extract<ChaosOptions, { command: "effect" }>,
  world: World,
  signal: AbortSignal,
): Promise<number> {
  const rows = await runEffectChaos(world, { cases: effectCases(options.short), signal, say });
  const told = rows.map(({ point: { name }, ...row }) => ({ point: name, ...row }));
  process.stdout.write(`${options.json ? JSON.stringify(told) : effectTable(rows)}\n`);
  return rows.every(({ good }) => good) ? 0 : 1;
}

/** Ends, whatever happens, without a process or a folder left behind. */
async function inWorld(
  options: Exclude<ChaosOptions, { command: "help" }>,
  signal: AbortSignal,
  run: (world: World) => Promise<number>,
): Promise<number> {
  say(`seed ${options.seed}; starting ${options.nodes === 1 ? "a server" : "three servers"}`);
  const world = await startWorld({ nodes: options.nodes, lanes: 4 });
  const running = run(world);
  try {
    return await unlessAborted(signal, "the end", running);
  } finally {
    // What an interruption finds under way, like the start of a server, is waited for: nothing may start after the end.
    if (signal.aborted) await Promise.race([running.catch(() => undefined), pause(longestEndMs)]);
    await world.close();
  }
}

async function main(interrupted: AbortController): Promise<number> {
  const options = readOptions(process.argv.slice(2));
  if (options.command === "help") {
    process.stdout.write(usage);
    return 0;
  }
  const limit = AbortSignal.timeout(options.limitMs);
  const signal = AbortSignal.any([interrupted.signal, limit]);
  return inWorld(options, signal, (world) => {
    if (options.command === "guard") return runGuard(options, world, signal);
    return options.command === "fence" ? runFence(options, world, signal) : runEffect(options, world, signal);
  });
}

const interrupted = new AbortController();
for (const wish of Object.keys(exitOf) as Wish[])
  process.on(wish, () => {
    interrupted.abort(wish);
  });

try {
  process.exitCode = await main(interrupted);
} catch (error) {
  if (!isCandorError(error)) throw error;
  say(interrupted.signal.aborted ? "chaos: interrupted" : `chaos: ${error.code}: ${error.message}`);
  process.exitCode = error.exit === 2 ? 2 : 1;
}
const { reason } = interrupted.signal as { reason: Wish | undefined };
process.exit(reason === undefined ? process.exitCode : exitOf[reason]);
