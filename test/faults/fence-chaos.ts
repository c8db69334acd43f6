import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Publisher, readAt, type Bus } from "@candor/bus";
import { streams, type Logger } from "@candor/contract";
import { connectOrchestrator, type Fleet, type Run } from "@candor/orchestrator";
import { connectSubagent, type Subagent } from "@candor/subagent";
import type { World } from "../kit/world.js";
import { attemptsNear, fenceFigures, type FenceFigures, type FenceRound } from "./fence-figures.js";
import { HastyAgent, wallClockMs } from "./hasty-agent.js";
import { workHonestly } from "./honest-agent.js";
import { readWhole } from "./stream-reading.js";
import { unlessAborted } from "./waiting.js";

export interface FenceChaosOptions {
  readonly rounds: number;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
  readonly logger: Logger;
}

export interface FenceChaosFigures extends FenceFigures {
  /** Recalls with attempts enough on either side. */
  readonly rounds: number;
  /** Rounds that were made anew, because the machine was too busy to race. */
  readonly madeAnew: number;
  readonly nodes: number;
  readonly ms: number;
}

const fewestNear = 5;
/** Rounds that may be made anew beyond two for each; the time limit of the run ends it before where it must. */
const mostAnew = 100;
/** Time of attempts before the recall is sent, and after it is stored. */
const aroundMs = 14;
const attemptsPerMs = 1.2;
const mostAtOnce = 12;
const intents = Array.from({ length: 64 }, (_, i) => ({ name: `charge-${i}`, target: "payments" }));

/** The parties: one fleet, an agent on the SDK, and one that looks at nothing. */
class Stage {
  readonly #world: World;
  readonly #operator: Bus;
  readonly #run: Run;
  readonly #honest: Subagent;
  readonly #hasty: Publisher;
  #rounds = 0;

  constructor(parts: {
    readonly world: World;
    readonly operator: Bus;
    readonly run: Run;
    readonly honest: Subagent;
    readonly hasty: Publisher;
  }) {
    this.#world = parts.world;
    this.#operator = parts.operator;
    this.#run = parts.run;
    this.#honest = parts.honest;
    this.#hasty = parts.hasty;
  }

  /** Delegates two tasks, has effects dispatched under both, and recalls both in the middle of it. */
  async round(): Promise<{ readonly round: FenceRound; readonly near: number }> {
    this.#rounds += 1;
    const hastyTask = `hasty-${this.#rounds}`;
    const honestTask = `honest-${this.#rounds}`;
    const hasty = await this.#hastyAgent(hastyTask);
    const { token } = await this.#delegate(honestTask, "reviewer");
    const task = await this.#honest.accept(token);

    const work = workHonestly(
      task,
      intents.map(({ name }) => name),
    );
    const rush = { isOver: false };
    const rushing = this.#rush(hasty, rush);
    await pause(aroundMs);
    const [recalled] = await Promise.all([this.#recall(hastyTask), this.#recall(honestTask)]);
    await pause(aroundMs);
    rush.isOver = true;
    await rushing;
    await hasty.settled();
    const honest = await work;
    await task.close();
    const stored = await readAt(this.#operator, streams.log, recalled);
    const round = { hastyTask, attempts: hasty.attempts, honestTask, honest };
    return { round, near: attemptsNear(hasty.attempts, stored?.timeMs ?? 0) };
  }

  async #rush(agent: HastyAgent, until: { readonly isOver: boolean }): Promise<void> {
    let last = wallClockMs() - 1;
    while (!until.isOver) {
      const now = wallClockMs();
      // However long the turn took, on a busy machine, the rate stays.
      const due = Math.min(mostAtOnce, Math.ceil((now - last) * attemptsPerMs));
      for (let i = 0; i < due; i += 1) agent.attempt();
      last = now;
      await pause(1);
    }
  }

  async #hastyAgent(task: string): Promise<HastyAgent> {
    const delegation = await this.#delegate(task, "payer");
    const agent = new HastyAgent({
      publisher: this.#hasty,
      deployment: this.#world.credentials("agent", "payer").signer,
      actor: "payer",
      run: this.#run.id,
      lane: this.#run.lane,
      fleet: "fleet",
      delegation,
    });
    await agent.accept();
    return agent;
  }

  /** The guard's word is waited for, so that the recall goes out at once later. */
  async #delegate(task: string, agent: string) {
    const delegation = await this.#run.delegate({ task, agent: this.#world.certificate("agent", agent), intents });
    await this.#run.confirm(delegation, { timeoutMs: 10_000 });
    return delegation;
  }

  async #recall(task: string): Promise<number> {
    const { sequence } = await this.#run.recall(task, { graceMs: 1_000, reason: "chaos" });
    return sequence;
  }
}

/** Has effects dispatched while recalls land, round after round, and reads the log for what was stored when. */
export async function runFenceChaos(world: World, options: FenceChaosOptions): Promise<FenceChaosFigures> {
  const { rounds, signal, say, logger } = options;
  const started = wallClockMs();
  const servers = world.urls;
  const operator = await world.connect("operator", "operator");
  const guard = await world.startGuard("g1");
  let fleet: Fleet | undefined;
  let honest: Subagent | undefined;
  try {
    fleet = await connectOrchestrator({ servers, credentials: world.folder("orchestrator", "fleet"), logger });
    const spoolDir = join(world.dir, "spool");
    honest = await connectSubagent({ servers, credentials: world.folder("agent", "reviewer"), spoolDir, logger });
    const hasty = new Publisher(await world.connect("agent", "payer"), logger);
    const stage = new Stage({ world, operator, run: await fleet.openRun(), honest, hasty });

    say(`${rounds} recalls on ${world.nodes.length} nodes`);
    const made: FenceRound[] = [];
    const good: FenceRound[] = [];
    while (good.length < rounds && made.length < 3 * rounds + mostAnew) {
      const { round, near } = await unlessAborted(signal, "the next recall", stage.round());
      made.push(round);
      if (near >= fewestNear) good.push(round);
      if (made.length % Math.ceil(rounds / 10) === 0)
        say(`${good.length} of ${rounds}, ${made.length - good.length} made anew`);
    }
    const log = await readWhole(operator, streams.log, signal);
    return {
      rounds: good.length,
      ...fenceFigures(made, log),
      attemptsNear: fenceFigures(good, log).attemptsNear,
      madeAnew: made.length - good.length,
      nodes: world.nodes.length,
      ms: Math.round(wallClockMs() - started),
    };
  } finally {
    await honest?.close();
    await fleet?.close();
    await guard.kill("SIGTERM");
  }
}

/** True if the server refused dispatches and stored none behind a recall, and all rounds were real races. */
export function isFenceChaosGood(figures: FenceChaosFigures, asked: Pick<FenceChaosOptions, "rounds">): boolean {
  const { rounds, refusedByServer, storedAfter, misreported, ranUnstored, attemptsNear: near } = figures;
  const faults = [storedAfter, misreported, ranUnstored];
  return faults.every((count) => count === 0) && refusedByServer > 0 && near >= fewestNear && rounds >= asked.rounds;
}
